package integration

import (
	"encoding/json"
	"strings"
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestCheckFindsWhatPeersSpeak lists every real peer under every protocol but the
// one that would send its password in the clear.
func TestCheckFindsWhatPeersSpeak(t *testing.T) {
	o := newOrigin(t)
	var lines []string
	var speaks, sources []string
	for _, kind := range peers {
		p := kind.start(t, o.ca)
		scheme, rest, _ := strings.Cut(p.line, "://")
		for _, listed := range []string{"http", "socks5", "socks4", "https"} {
			if listed == "https" && strings.Contains(rest, "@") {
				continue
			}
			lines = append(lines, listed+"://"+rest)
			speaks, sources = append(speaks, scheme), append(sources, p.source)
		}
	}
	list := t.TempDir() + "/proxies.txt"
	writeFile(t, list, strings.Join(lines, "\n")+"\n", 0o600)
	for _, target := range []string{o.https + "/ip", o.http + "/ip"} {
		s := swiveltest.Setup{Env: []string{"SSL_CERT_FILE=" + o.ca.file}}
		cmd := s.Command(t, "check", list, "--target", target, "--output", "json", "--concurrency", "10", "--timeout", "10s")
		out, err := cmd.Output()
		var results []struct {
			Proxy, Speaks, Reason string
			Alive                 bool
			ExitIP                string `json:"exit_ip"`
		}
		if jsonErr := json.Unmarshal(out, &results); err != nil || jsonErr != nil || len(results) != len(lines) {
			t.Fatalf("%v, %v: %s", err, jsonErr, out)
		}
		for i, r := range results {
			if !r.Alive || r.Speaks != speaks[i] || r.ExitIP != sources[i] {
				t.Errorf("%s by %s: %+v, want %s from %s", target, lines[i], r, speaks[i], sources[i])
			}
		}
		if strings.Contains(string(out), peerCore) {
			t.Error("a password is shown")
		}
	}
}
