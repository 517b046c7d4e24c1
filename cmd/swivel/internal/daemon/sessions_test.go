package daemon

import (
	"fmt"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/route"
)

// visit serves a session and returns the proxy that served it.
func (r *rig) visit(session string) pool.ID {
	r.t.Helper()
	now := time.Now()
	x, refusal, _ := r.pool.Begin(pool.Request{ID: "r1", Target: "example.test:443", Client: "me", Route: route.Route{Session: session}}, now)
	if refusal != nil {
		r.t.Fatalf("refused: %+v", *refusal)
	}
	l, _, ok := x.Next(now, time.Minute, false)
	if !ok {
		r.t.Fatal("nobody serves")
	}
	x.Won(l, now)
	l.Release()
	return l.Proxy.ID
}

func TestSessionsAreWhereTheyWereAfterAKill(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b", "127.0.0.1:3 name=c")
	r.start()
	r.pauseFor("a", "so that its sessions are elsewhere")
	var before []pool.ID
	for i := range 100 {
		before = append(before, r.visit(fmt.Sprint("s", i)))
	}
	if err := r.Resume([]*pool.Proxy{r.proxy("a")}, "me"); err != nil {
		t.Fatal(err)
	}
	r.eventually("all sessions are stored", func() bool { return r.number("SELECT count(*) FROM session_pins") == 100 })
	killed := r.cfg.DB // what a kill would leave: the file as it is now, while the daemon runs
	r.exec("VACUUM INTO ?", killed+".copy")
	r.stop()
	r.cfg.DB = killed + ".copy"
	r.start()
	for i, want := range before {
		if got := r.visit(fmt.Sprint("s", i)); got != want {
			t.Errorf("session %d was at %s, is at %s", i, want, got)
		}
	}
}

func TestSessionsThatAreOverLeaveTheDatabase(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.start()
	r.visit("s")
	r.eventually("it is stored", func() bool { return r.number("SELECT count(*) FROM session_pins") == 1 })
	r.exec("UPDATE session_pins SET last_use = last_use - 3600")
	r.restart()
	if n := r.number("SELECT count(*) FROM session_pins"); n != 0 {
		t.Errorf("%v rows left", n)
	}
}

func TestSessionsAreStoredOnceTheDatabaseIsFree(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.start()
	r.exec("CREATE TRIGGER full BEFORE INSERT ON session_pins BEGIN SELECT RAISE(ABORT, 'no room'); END")
	r.visit("s")
	r.exec("DROP TRIGGER full")
	r.eventually("it is stored after all", func() bool { return r.number("SELECT count(*) FROM session_pins") == 1 })
}
