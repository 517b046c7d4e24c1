package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestRateIsEachClientsOwn(t *testing.T) {
	r, now := NewRate(2), time.Unix(1e9, 0)
	alice, bob := User("alice"), Address(netip.MustParseAddr("127.0.0.1"))
	for range 2 { // a second's worth may come together
		if wait := r.Take(alice, now); wait != 0 {
			t.Fatalf("within the rate: wait %v", wait)
		}
	}
	for range 2 {
		if wait, would := r.Take(alice, now), r.Wait(alice, now); wait != 500*time.Millisecond || would != wait {
			t.Errorf("over the rate: wait %v and %v, want 500ms", wait, would)
		}
	}
	if wait := r.Take(bob, now); wait != 0 {
		t.Errorf("another client waits %v", wait)
	}
	now = now.Add(500 * time.Millisecond)
	if wait := r.Wait(alice, now); wait != 0 {
		t.Errorf("after the wait that was asked for: %v", wait)
	}
	if wait := r.Take(alice, now); wait != 0 {
		t.Errorf("after the wait that was asked for: %v", wait)
	}
	if wait := r.Take(alice, now); wait <= 0 {
		t.Error("the token was there twice")
	}
}

func TestSlowRates(t *testing.T) {
	r, now := NewRate(0.1), time.Unix(1e9, 0)
	if r.Take(User("a"), now) != 0 {
		t.Error("the first has to wait")
	}
	if wait := r.Take(User("a"), now.Add(time.Second)).Round(time.Millisecond); wait != 9*time.Second {
		t.Errorf("wait %v, want 9s", wait)
	}
	if wait := r.Take(User("a"), now.Add(11*time.Second)); wait != 0 {
		t.Errorf("wait %v", wait)
	}
}

func TestOverManySecondsAClientGetsItsRate(t *testing.T) {
	r, now := NewRate(5), time.Unix(1e9, 0)
	taken := 0
	for range 10_000 { // a hundred seconds
		if r.Take(User("a"), now) == 0 {
			taken++
		}
		now = now.Add(10 * time.Millisecond)
	}
	if taken < 495 || taken > 506 {
		t.Errorf("%d in 100 seconds, want 500 and the burst", taken)
	}
}

// TestTimesOutOfOrderGiveNothingTwice: of many who look at the clock at once, some
// are held up before they ask.
func TestTimesOutOfOrderGiveNothingTwice(t *testing.T) {
	r, now := NewRate(100), time.Unix(1e9, 0)
	taken := 0
	for range 1000 { // ten seconds
		for _, at := range []time.Time{now, now.Add(-50 * time.Millisecond)} {
			if r.Take(User("a"), at) == 0 {
				taken++
			}
		}
		now = now.Add(10 * time.Millisecond)
	}
	if taken > 1100 {
		t.Errorf("%d in ten seconds, want 100 a second", taken)
	}
}

func TestIdleClientsAreForgotten(t *testing.T) {
	r, now := NewRate(10), time.Unix(1e9, 0)
	for i := range 100_000 { // a thousand a second
		_ = r.Take(User(fmt.Sprint(i)), now)
		now = now.Add(time.Millisecond)
		if n := len(r.recent) + len(r.older); n > 2001 {
			t.Fatalf("%d clients are remembered, of whom 1000 a second come", n)
		}
	}
	_ = r.Take(User("a"), now.Add(time.Hour))
	if n := len(r.recent) + len(r.older); n != 1 {
		t.Errorf("%d clients are remembered after an hour", n)
	}
}

func TestConnections(t *testing.T) {
	l := NewConnections(2)
	a, b := User("a"), User("b")
	enter := func(c Client, want bool) {
		t.Helper()
		if got := l.Enter(c); got != want {
			t.Errorf("%s enters: %v, want %v", c.User, got, want)
		}
	}
	enter(a, true)
	enter(a, true)
	enter(a, false)
	enter(b, true)
	l.Leave(a)
	enter(a, true)
	enter(a, false)
	l.Leave(a)
	l.Leave(a)
	l.Leave(b)
	if len(l.open) != 0 {
		t.Errorf("remembered: %v", l.open)
	}
}

func TestNoLimit(t *testing.T) {
	r, l := NewRate(0), NewConnections(0)
	for range 1000 {
		if r.Take(Client{}, time.Now()) != 0 || r.Wait(Client{}, time.Now()) != 0 || !l.Enter(Client{}) {
			t.Fatal("limited")
		}
	}
	l.Leave(Client{})
}

// A machine has a network of 64 bits to itself: with a limit for each address it
// would have none.
func TestAClientCannotMultiplyByItsAddresses(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"2001:db8::1", "2001:db8::2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"fe80::1%eth0", "fe80::2%eth1", true},
	} {
		if same := Address(netip.MustParseAddr(c.a)) == Address(netip.MustParseAddr(c.b)); same != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, same)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	r, c := NewRate(1e6), Address(netip.MustParseAddr("127.0.0.1"))
	b.ReportAllocs()
	for b.Loop() {
		_ = r.Take(c, time.Now())
	}
}
