package faults

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// ask has a client ask each of the proxies, and returns how long the slowest
// answer took. None may be a success.
func (h *handshakeTest) ask(t *testing.T, names []string) (slowest time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var asking sync.WaitGroup
	places := make(chan struct{}, 64)
	for _, name := range names {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			began := time.Now()
			got, err := h.one(name)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			slowest = max(slowest, took)
			wantCode := []string{"attempts_spent"}
			if h.scripts[name].harm == stalls {
				wantCode = []string{"timeout"}
			}
			if h.cut(name) {
				return // the head of a response reached the client: its body ends early
			}
			if err == nil || !slices.Contains(wantCode, got.code) || took > inTime {
				t.Errorf("%s: after %v the answer is %+v, %v", name, took, got, err)
			}
		})
	}
	asking.Wait()
	return slowest
}

func (h *handshakeTest) one(name string) (answer, error) {
	c := client{proxy: h.daemon.Listen, user: "u+proxy=" + name}
	if h.scripts[name].plain {
		return c.get("t.test")
	}
	return c.visit("t.test:80")
}

// cut says whether the harm comes behind the head of a plain response.
func (h *handshakeTest) cut(name string) bool {
	s := h.scripts[name]
	return s.plain && s.bytes >= headLength
}

// words are what the log may call a harm.
func (h *handshakeTest) words(name string) []string {
	s := h.scripts[name]
	switch {
	case h.cut(name):
		return []string{"response_cut"}
	case s.plain && s.harm == stalls:
		return []string{"response_timeout"}
	case s.plain:
		return []string{"response_closed"}
	case s.secure && s.harm == stalls:
		return []string{"dial_timeout"}
	case s.secure:
		return []string{"dial_tls", "handshake_closed"} // the last bytes come behind TLS
	case s.harm == stalls:
		return []string{"handshake_timeout"}
	}
	return []string{"handshake_closed"}
}

// checkSignals looks what the log says of each attempt.
func (h *handshakeTest) checkSignals(t *testing.T) {
	t.Helper()
	h.daemon.AwaitLog(t)
	seen := map[string]bool{}
	for _, l := range h.daemon.Lines(t, "exchange") {
		for _, a := range l.Attempts {
			seen[a.Name] = true
			if words := h.words(a.Name); !slices.Contains(words, a.Signal) {
				t.Errorf("%s is called %s (%s), want %q", a.Name, a.Signal, a.Outcome, words)
			}
		}
	}
	if len(seen) != len(h.scripts) {
		t.Errorf("%d of %d are in the log", len(seen), len(h.scripts))
	}
}
