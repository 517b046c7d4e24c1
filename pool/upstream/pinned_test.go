package upstream

import (
	"testing"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// A server that authenticates connections takes all that comes on one for the same
// user's.
func TestConnectionThatAClientAuthenticatedServedAnother(t *testing.T) {
	for value, shared := range map[string]bool{
		"NTLM TlRMTVNTUAAB": false, "negotiate YIIJ": false, "Negotiate": false,
		"Basic dTpw": true, "Bearer x": true, "NTLMv9 x": true, "": true,
	} {
		p := proxyPlain(t, nil, nil)
		tr := transport(t, specFor(pool.HTTP, p.addr, ""))
		ask := func(client, authorization string) string {
			r := asking("GET")
			r.Client = client
			if authorization != "" {
				r.Fields = append(r.Fields, http1.Field{Name: "authorization", Value: authorization})
			}
			return fetch(t, tr, r)
		}
		ask("alice", value)
		if got := ask("bob", ""); (got == "1") != shared {
			t.Errorf("behind %q another client is served on connection %s", value, got)
		}
		if got := ask("alice", value); !shared && got != "1" {
			t.Errorf("behind %q its client is served on connection %s", value, got)
		}
	}
}
