package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	one = netip.MustParseAddr("192.0.2.1")
	two = netip.MustParseAddr("2001:db8::2")
)

// nameServer answers lookups with what it is told to.
type nameServer struct {
	asked atomic.Int32
	delay time.Duration
	addrs []netip.Addr
	err   error
}

func (s *nameServer) lookup(ctx context.Context, _ string) ([]netip.Addr, error) {
	s.asked.Add(1)
	addrs, err := s.addrs, s.err
	select {
	case <-time.After(s.delay):
		return addrs, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// check resolves proxy.test within 5 s and compares.
func check(t *testing.T, r *resolver, want netip.Addr) {
	t.Helper()
	got, err := r.resolve(t.Context(), "proxy.test", time.Now().Add(5*time.Second))
	if err != nil || len(got) == 0 || got[0] != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestLiteralsAreNotLookedUp(t *testing.T) {
	s := &nameServer{}
	r := newResolver(s.lookup, time.Now)
	for host, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "2001:db8::2": "2001:db8::2", "::ffff:192.0.2.1": "192.0.2.1",
	} {
		got, err := r.resolve(t.Context(), host, time.Now().Add(time.Second))
		if err != nil || len(got) != 1 || got[0].String() != want {
			t.Errorf("%s: %v, %v", host, got, err)
		}
	}
	if s.asked.Load() != 0 {
		t.Error("a literal was looked up")
	}
}

func TestAnAnswerIsUsedForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &nameServer{addrs: []netip.Addr{one}}
		r := newResolver(s.lookup, time.Now)
		check(t, r, one)
		s.addrs = []netip.Addr{two}
		time.Sleep(nameFresh - time.Second)
		check(t, r, one)
		time.Sleep(time.Second)
		check(t, r, two)
		if n := s.asked.Load(); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestLastGoodAnswerOutlivesTheNameServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &nameServer{addrs: []netip.Addr{one}}
		r := newResolver(s.lookup, time.Now)
		check(t, r, one)
		s.err = &net.DNSError{Err: "server misbehaving", IsTemporary: true}
		for range 100 {
			time.Sleep(nameFresh)
			check(t, r, one)
		}
		asked := s.asked.Load()
		check(t, r, one)
		if s.asked.Load() != asked {
			t.Error("a failed lookup is repeated at once")
		}
	})
}

// TestSilentNameServerDelaysNobodyForLong: with an old answer at hand only the
// first to ask waits, and not for long.
func TestSilentNameServerDelaysNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &nameServer{addrs: []netip.Addr{one}}
		r := newResolver(s.lookup, time.Now)
		check(t, r, one)
		time.Sleep(nameFresh)
		s.delay = time.Hour
		for _, limit := range []time.Duration{namePatient, 0} {
			start := time.Now()
			check(t, r, one)
			if waited := time.Since(start); waited > limit {
				t.Errorf("waited %v", waited)
			}
		}
		time.Sleep(lookupLimit) // the goroutine of the lookup must end, or synctest complains
	})
}

// TestGivenUpNameIsForgotten: its address may be somebody else's by now.
func TestGivenUpNameIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &nameServer{addrs: []netip.Addr{one}}
		r := newResolver(s.lookup, time.Now)
		check(t, r, one)
		time.Sleep(nameFresh)
		s.err = &net.DNSError{Err: "no such host", IsNotFound: true}
		if got, err := r.resolve(t.Context(), "proxy.test", time.Now().Add(time.Second)); !notFound(err) {
			t.Errorf("got %v, %v", got, err)
		}
		s.err = nil
		time.Sleep(nameRetry)
		check(t, r, one)
	})
}

func TestLookupsOfOneNameAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &nameServer{addrs: []netip.Addr{one}, delay: time.Second}
		r := newResolver(s.lookup, time.Now)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { check(t, r, one) })
		}
		all.Wait()
		if n := s.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestLookupOutlivesWhoAsked: a name server slower than one attempt's patience
// still serves the next attempt.
func TestLookupOutlivesWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &nameServer{addrs: []netip.Addr{one}, delay: 7 * time.Second}
		r := newResolver(s.lookup, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.resolve(ctx, "proxy.test", time.Now().Add(5*time.Second)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := r.resolve(t.Context(), "proxy.test", time.Now().Add(5*time.Second)); !timedOut(err) {
			t.Errorf("got %v", err)
		}
		check(t, r, one)
		if n := s.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestNamesAreForgottenAtTheLimit(t *testing.T) {
	s := &nameServer{addrs: []netip.Addr{one}}
	r := newResolver(s.lookup, time.Now)
	for i := range maxNames {
		r.names[fmt.Sprint(i)] = &name{}
	}
	check(t, r, one)
	if len(r.names) != maxNames {
		t.Errorf("%d names", len(r.names))
	}
}
