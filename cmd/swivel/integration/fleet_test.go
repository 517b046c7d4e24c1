package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
	"swivel/storage/redis/redistest"
)

// instances starts daemons with the same list that share a server.
func instances(t *testing.T, n int, url string, lines []string, env ...string) (all []daemon) {
	t.Helper()
	for range n {
		all = append(all, startDaemon(t, swiveltest.Setup{Lines: lines, Env: append([]string{"SWIVEL_FLEET=" + url}, env...)}))
	}
	for _, d := range all {
		d.inFleet(t, n)
	}
	return all
}

// inFleet waits until the daemon has heard of the others.
func (d daemon) inFleet(t testing.TB, n int) {
	t.Helper()
	swiveltest.Eventually(t, 20*time.Second, "the instances have met", func() bool { f := d.fleet(t); return f.Up && f.Instances >= n })
}

type fleetStatus struct {
	Enabled, Up, Alone bool
	Instances, Leases  int
	Pending            int
}

func (d daemon) fleet(t testing.TB) (f fleetStatus) {
	t.Helper()
	if err := json.Unmarshal([]byte(d.Get(t, "/api/v1/fleet")), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// tries are the logged attempts of all daemons on the proxy.
func tries(t testing.TB, all []daemon, id string) (failures, probes int) {
	t.Helper()
	for _, d := range all {
		for _, a := range d.attemptsOf(t, id) {
			if a.Outcome == "failure" && !a.Probe {
				failures++
			}
			if a.Probe {
				probes++
			}
		}
	}
	return failures, probes
}

func allIn(t testing.TB, all []daemon, name, state string) bool {
	for _, d := range all {
		if d.Member(t, name).State != state {
			return false
		}
	}
	return true
}

// everySecond has each daemon serve one exchange a second until the answer is yes.
func everySecond(t testing.TB, all []daemon, echo string, limit time.Duration, yes func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Second / time.Duration(len(all)))
	defer tick.Stop()
	for i, begin := 0, time.Now(); !yes(); i++ {
		if time.Since(begin) > limit {
			t.Fatal("it takes too long")
		}
		if !use(t, all[i%len(all)].Listen, echo) {
			t.Error("a client was hurt")
		}
		<-tick.C
	}
}

// TestFleetCountsFailuresTogetherAndTestsOnce: a proxy that worked dies. However
// many instances there are, it takes as many failures as one alone would need, and
// a few; and one test in each of its rests.
func TestFleetCountsFailuresTogetherAndTestsOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	ill, sound := newToy(t, "127.0.0.61"), newToy(t, "127.0.0.62")
	ill.open(t, carry)
	sound.open(t, carry)
	echo := newEcho(t)
	all := instances(t, 3, server.URL(), []string{ill.hostPort + " name=ill weight=3", sound.hostPort + " name=sound"},
		"SWIVEL_BREAKER_OPEN_TIMEOUT=1s", "SWIVEL_BREAKER_MAX_OPEN_TIMEOUT=4s", "SWIVEL_BREAKER_JITTER=0")
	id := all[0].Member(t, "ill").ID
	for _, d := range all {
		swiveltest.Eventually(t, 20*time.Second, "it has worked", func() bool { return use(t, d.Listen, echo) && outcomes(t, d, id, "success") > 0 })
	}
	ill.shut()
	everySecond(t, all, echo, time.Minute, func() bool { return allIn(t, all, "ill", "open") })
	if failures, _ := tries(t, all, id); failures > 5+3 || failures < 5 {
		t.Errorf("%d attempts until all rested it", failures)
	}
	everySecond(t, all, echo, time.Minute, func() bool { _, probes := tries(t, all, id); return probes >= 3 })
	opens := 0
	swiveltest.Eventually(t, 5*time.Second, "the last test is stored", func() bool {
		query(t, all[0].DB, "SELECT opens_in_row FROM circuit_breaker_states WHERE proxy_id = '"+id+"'", &opens)
		_, probes := tries(t, all, id)
		return probes == opens-1
	})
	ill.open(t, carry)
	everySecond(t, all, echo, time.Minute, func() bool { return allIn(t, all, "ill", "closed") })
}

// TestFleetOutlivesWhoeverIsKilled: an instance in the middle of a test, then the
// server with all it knew. Nothing stays open that should not, nor is forgotten.
func TestFleetOutlivesWhoeverIsKilled(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	ill, sound := newToy(t, "127.0.0.63"), newToy(t, "127.0.0.64")
	sound.open(t, carry)
	echo := newEcho(t)
	lines := []string{ill.hostPort + " name=ill weight=3", sound.hostPort + " name=sound"}
	env := []string{"SWIVEL_BREAKER_OPEN_TIMEOUT=2s", "SWIVEL_BREAKER_MAX_OPEN_TIMEOUT=2s", "SWIVEL_BREAKER_JITTER=0"}
	all := instances(t, 2, server.URL(), lines, env...)
	everySecond(t, all, echo, time.Minute, func() bool { return allIn(t, all, "ill", "open") })

	ill.open(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }) // takes the test and says nothing
	everySecond(t, all[:1], echo, time.Minute, func() bool { return ill.accepted.Load() > 0 })
	all[0].Kill(t)
	ill.shut()
	ill.open(t, carry)
	everySecond(t, all[1:], echo, 30*time.Second, func() bool { return all[1].Member(t, "ill").State == "closed" })

	ill.shut()
	everySecond(t, all[1:], echo, time.Minute, func() bool { return all[1].Member(t, "ill").State == "open" })
	server.Kill()
	swiveltest.Eventually(t, 10*time.Second, "it is on its own", func() bool { return all[1].fleet(t).Alone })
	begin := ill.accepted.Load()
	ill.open(t, hangUp)
	everySecond(t, all[1:], echo, 30*time.Second, func() bool { return ill.accepted.Load() > begin }) // tested without a lease
	ill.shut()
	server.Restart()
	fresh := startDaemon(t, swiveltest.Setup{Lines: lines, Env: append([]string{"SWIVEL_FLEET=" + server.URL()}, env...)})
	swiveltest.Eventually(t, 10*time.Second, "a new instance learns of it", func() bool { return fresh.Member(t, "ill").State != "closed" })
}

// TestRequestsDoNotWaitForTheServer, whatever is the matter with it. Every call to
// it takes a second then.
func TestRequestsDoNotWaitForTheServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := newToy(t, "127.0.0.65"), newToy(t, "127.0.0.66")
	a.open(t, carry)
	b.open(t, carry)
	echo := newEcho(t)
	d := instances(t, 1, server.URL(), []string{a.hostPort + " name=a", b.hostPort + " name=b"})[0]
	incidents := 0
	for name, c := range map[string]struct{ spoil, mend func() }{
		"stopped": {server.Stop, server.Go},
		"killed":  {server.Kill, server.Restart},
		"full":    {func() { server.Do("CONFIG", "SET", "maxmemory", "1") }, func() { server.Do("CONFIG", "SET", "maxmemory", "0") }},
		"replica": {func() { server.Do("REPLICAOF", "127.0.0.1", "1") }, func() { server.Do("REPLICAOF", "NO", "ONE") }},
	} {
		incidents++
		c.spoil()
		swiveltest.Eventually(t, 10*time.Second, name+": it is on its own", func() bool { return d.fleet(t).Alone })
		var worst time.Duration
		for begin := time.Now(); time.Since(begin) < 3*time.Second; {
			one := time.Now()
			if !use(t, d.Listen, echo) {
				t.Errorf("%s: a client was hurt", name)
			}
			worst = max(worst, time.Since(one))
		}
		if worst > 700*time.Millisecond {
			t.Errorf("%s: a request took %v", name, worst)
		}
		c.mend()
		swiveltest.Eventually(t, 10*time.Second, name+": it is back", func() bool { return d.fleet(t).Up })
		swiveltest.Eventually(t, 5*time.Second, name+": one line says so", func() bool {
			began, over := d.Lines(t, "fleet: the server cannot be used"), d.Lines(t, "fleet: joined again")
			return len(began) == incidents && len(over) == incidents
		})
	}
}

// TestPausesSessionsAndBansAreShared, and the ids by which proxies are called.
func TestPausesSessionsAndBansAreShared(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "s3cret-of-redis")
	url := "redis://:s3cret-of-redis@" + server.Addr()
	var lines []string
	for i := range 3 {
		y := newToy(t, fmt.Sprint("127.0.0.", 67+i))
		y.open(t, carry)
		lines = append(lines, fmt.Sprintf("%s name=p%d", y.hostPort, i))
	}
	echo := newEcho(t)
	all := instances(t, 2, url, lines)
	for i := range lines {
		name := fmt.Sprint("p", i)
		if a, b := all[0].Member(t, name).ID, all[1].Member(t, name).ID; a != b {
			t.Errorf("%s is %s here and %s there", name, a, b)
		}
	}
	paused := func(d daemon) bool { return len(d.Find(t, "state=paused")) == 1 }
	all[0].act(t, all[0].Member(t, "p0").ID, "pause")
	swiveltest.Eventually(t, time.Second, "the other one has paused it too", func() bool { return paused(all[1]) })
	swiveltest.Eventually(t, time.Second, "and stored that", func() bool { return count(t, all[1].DB, "pauses") == 1 })
	all[1].act(t, all[1].Member(t, "p0").ID, "resume")
	swiveltest.Eventually(t, time.Second, "the first one has it back", func() bool { return !paused(all[0]) })

	// The session has to leave the proxy that both instances would choose for it.
	home := viaSession(t, all[0], "a1", echo)
	all[0].act(t, home, "pause")
	moved := viaSession(t, all[0], "a1", echo)
	all[0].act(t, home, "resume")
	swiveltest.Eventually(t, 2*time.Second, "the other one knows where it is, and may use both", func() bool {
		return count(t, all[1].DB, "session_pins WHERE proxy_id = '"+moved+"'") == 1 && !paused(all[1])
	})
	if got := viaSession(t, all[1], "a1", echo); got != moved || moved == home {
		t.Errorf("the session was at %s, is at %s, and there leaves through %s", home, moved, got)
	}

	body := fmt.Sprintf(`{"proxy_id": %q, "target": "x.example:443", "outcome": "banned", "retry_after_s": 60}`, all[0].Member(t, "p1").ID)
	all[0].Post(t, "/api/v1/report", body)
	swiveltest.Eventually(t, 4*time.Second, "the ban is known there", func() bool { return count(t, all[1].DB, "bans") == 1 })
	for _, d := range all {
		if strings.Contains(d.Output(t), "s3cret-of-redis") {
			t.Error("the log holds the password of the server")
		}
	}
}

// act has a proxy paused or resumed.
func (d daemon) act(t testing.TB, id, what string) {
	t.Helper()
	if status, told := d.Post(t, "/api/v1/proxies/"+id+"/"+what, `{"reason": "invoice"}`); status != 200 {
		t.Fatalf("%s: %d: %s", what, status, told)
	}
}

// viaSession returns the proxy that a tunnel of the session leaves through.
func viaSession(t testing.TB, d daemon, session, target string) string {
	t.Helper()
	status, fields := connectStatus(t, d.Listen, target, "X-Swivel-Session: "+session)
	if status != 200 || fields.Get("X-Swivel-Proxy") == "" {
		t.Fatalf("%d, %v", status, fields)
	}
	return fields.Get("X-Swivel-Proxy")
}

// TestInstanceThatJoinsGoesOnUnderTheFleetsIDs: what it knew is not lost.
func TestInstanceThatJoinsGoesOnUnderTheFleetsIDs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	ill, sound := newToy(t, "127.0.0.71"), newToy(t, "127.0.0.72")
	sound.open(t, carry)
	echo := newEcho(t)
	lines := []string{ill.hostPort + " name=ill", sound.hostPort + " name=sound"}
	s := swiveltest.Setup{Dir: t.TempDir(), Lines: lines}
	alone := startDaemon(t, s)
	for alone.Member(t, "ill").State != "open" {
		use(t, alone.Listen, echo)
	}
	old := alone.Member(t, "ill").ID
	alone.Stop(t)
	first := instances(t, 1, server.URL(), lines)[0]
	s.Env = []string{"SWIVEL_FLEET=" + server.URL()}
	joined := startDaemon(t, s)
	id := joined.Member(t, "ill").ID
	if id == old || id != first.Member(t, "ill").ID {
		t.Errorf("%s, alone it was %s", id, old)
	}
	if m := joined.Member(t, "ill"); m.State != "open" {
		t.Errorf("it has forgotten: %+v", m)
	}
	swiveltest.Eventually(t, 5*time.Second, "the other one learns of it", func() bool { return first.Member(t, "ill").State == "open" })
	joined.Stop(t)
	server.Kill()
	again := startDaemon(t, s) // without the server
	if m := again.Member(t, "ill"); m.ID != id || m.State != "open" {
		t.Errorf("%+v, want %s open", m, id)
	}
	if files, err := filepath.Glob(filepath.Join(s.Dir, "*.db")); err != nil || len(files) != 1 {
		t.Errorf("%q, %v", files, err)
	}
}
