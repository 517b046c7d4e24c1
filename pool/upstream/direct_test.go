package upstream

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"testing"

	"swivel/pool"
)

// Whoever owns a name can have it lead to where nobody may go.
func TestNameThatLeadsToAShunnedAddressIsNotConnected(t *testing.T) {
	met := make(chan struct{}, 2)
	meet := func(net.Conn) { met <- struct{}{} }
	shunned, fine := listen(t, meet), listen(t, meet)
	d := patient()
	d.Shun = func(at netip.AddrPort) bool { return at == shunned }
	d.names.lookup = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{shunned.Addr()}, nil }
	ask := func(port uint16) (*Conn, error) {
		return d.Tunnel(background(t), &pool.Spec{Scheme: pool.Direct}, "site.test:"+strconv.Itoa(int(port)), 0)
	}
	if _, err := ask(shunned.Port()); SignalOf(err) != pool.TargetNamed {
		t.Errorf("got %v", err)
	}
	conn, err := ask(fine.Port())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if <-met; len(met) > 0 {
		t.Error("it was connected")
	}
}
