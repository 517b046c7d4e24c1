package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// What the journal promises: how old a change may be that a kill loses. In the
// short form, beside which much else runs, the machine needs longer for the same.
func urgentWithin() time.Duration { return either(400*time.Millisecond, 50*time.Millisecond) }
func othersWithin() time.Duration { return either(2*time.Second, time.Second) }

// killTest is a pool in which breakers open and close all the time, and what is
// to outlive each kill.
type killTest struct {
	setup     swiveltest.Setup
	upstreams map[string]*upstream
	ids       map[string]string // by name, of the first life
	daemon    daemon
	load      *load

	mu       sync.Mutex
	sessions map[string]pinned // by name
	told     map[string]pinned // as they were when a kill was near

	paused      bool // the proxy that is paused and resumed in turn
	banned      bool // seen in the database
	good        int64
	transitions int
	resting     int // rests that went on over a restart
	kept        int // sessions that did
	ready       []time.Duration
}

// pinned is the proxy that a session was last told, and when.
type pinned struct {
	proxy string
	at    time.Time
}

const bannedTarget = "banned.test:443"

// TestKill: under traffic with transitions the daemon is killed and started
// again, many times. Nothing is lost that is older than the journal's promise,
// nobody who rests is tried, and what the operator said holds.
func TestKill(t *testing.T) {
	k := &killTest{sessions: map[string]pinned{}, upstreams: map[string]*upstream{}}
	for name, behave := range map[string]func(*visit){
		"sound-1": sound, "sound-2": sound, "sound-3": sound, "turns-1": sound, "turns-2": sound, "turns-3": sound,
		"dead-1": gateway, "dead-2": gateway, "login": login, "denies": denies("banned"), "paused": sound, "toggled": sound,
	} {
		k.upstreams[name] = newUpstream(t, behave)
		k.setup.Lines = append(k.setup.Lines, k.upstreams[name].hostPort+" name="+name)
	}
	k.setup.Dir = t.TempDir()
	swiveltest.Program(t) // built now, so that the first start is like the others
	k.setup.Env = []string{"SWIVEL_BREAKER_OPEN_TIMEOUT=400ms", "SWIVEL_BREAKER_MAX_OPEN_TIMEOUT=4s", "SWIVEL_BREAKER_REFUSED_TIMEOUT=4s",
		"SWIVEL_BREAKER_CONSECUTIVE_FAILURES=2", "SWIVEL_BREAKER_SLOW_START=100ms", "SWIVEL_BANS_REST=1h", "SWIVEL_RESTART_PROBE_RATE=1000",
		"SWIVEL_ATTEMPTS_ATTEMPTS=8"} // as many as may fail, and one that serves
	rounds := either(5, 200)
	for round := range rounds {
		k.round(t, round)
	}
	slices.Sort(k.ready)
	note(t, "kills", "%d, with %d changes of breakers and %d visits in all", rounds, k.transitions, k.good)
	note(t, "lost", "no change older than %v, nothing else older than %v; every database sound", urgentWithin(), othersWithin())
	note(t, "rests that went on", "%d, and nobody was tried in one", k.resting)
	note(t, "sessions kept", "%d, and none has moved without a word", k.kept)
	note(t, "ready again", "after %v (median), %v at most", k.ready[len(k.ready)/2].Round(time.Millisecond), k.ready[len(k.ready)-1].Round(time.Millisecond))
}

// round is one life of the daemon.
func (k *killTest) round(t *testing.T, round int) {
	t.Helper()
	var before stored
	if round > 0 {
		before = readStored(t, k.daemon.DB)
	}
	began := time.Now()
	k.daemon = startDaemon(t, k.setup)
	k.ready = append(k.ready, time.Since(began))
	k.looksRestored(t, before)
	k.keepsSessions(t, k.told)
	if round == 0 {
		k.put(t, "paused", "pause")
	}
	k.startLoad()
	life := 150*time.Millisecond + rand.N(300*time.Millisecond)
	if round%5 == 0 {
		life += othersWithin() + time.Second // long enough for what is not urgent
	}
	for over := time.Now().Add(life); time.Now().Before(over); pass(50 * time.Millisecond) {
		for _, name := range []string{"turns-1", "turns-2", "turns-3"} {
			k.upstreams[name].follow([]func(*visit){sound, gateway}[rand.N(2)])
		}
	}
	k.toggle(t)
	asked, known := time.Now(), k.daemon.Members(t)
	k.told = k.knownSessions()
	pass(urgentWithin() - time.Since(asked))
	killed := time.Now()
	k.daemon.Kill(t)
	k.good += k.load.end(t, killed)
	k.transitions += len(k.daemon.Lines(t, "breaker"))
	after := readStored(t, k.daemon.DB)
	if after.integrity != "ok" {
		t.Fatalf("round %d: integrity_check: %s", round, after.integrity)
	}
	k.keepsBreakers(t, round, asked, known, after)
	k.keepsOthers(t, round, killed, after)
	k.nobodyWasTriedAtRest(t, round, before, began)
}

// toggle pauses and resumes one proxy in turn, right before the kill.
func (k *killTest) toggle(t *testing.T) {
	t.Helper()
	verb := "pause"
	if k.paused {
		verb = "resume"
	}
	k.put(t, "toggled", verb)
	k.paused = !k.paused
}

// put pauses or resumes a proxy.
func (k *killTest) put(t *testing.T, name, verb string) {
	t.Helper()
	if status, told := k.daemon.Post(t, "/api/v1/proxies/"+k.ids[name]+"/"+verb, `{"reason": "a test"}`); status != 200 {
		t.Fatalf("%s %s: %d: %s", verb, name, status, told)
	}
}

// startLoad has some clients go anywhere, some in a session, and one where a
// proxy does not let it.
func (k *killTest) startLoad() {
	proxy := k.daemon.Listen
	k.load = startLoad(6, func(n, turn int) error {
		switch n {
		case 0, 1:
			name := fmt.Sprintf("s%d", turn%20*2+n)
			got, err := client{proxy: proxy, user: "u-session-" + name}.visit(fmt.Sprintf("t%d.test:443", turn%50))
			if err == nil {
				k.mu.Lock()
				k.sessions[name] = pinned{got.proxy, time.Now()}
				k.mu.Unlock()
			}
			return err
		case 2:
			_, err := client{proxy: proxy}.visit(bannedTarget)
			return err
		}
		_, err := client{proxy: proxy}.visit(fmt.Sprintf("t%d.test:443", (turn+n)%50))
		return err
	})
}

func (k *killTest) knownSessions() map[string]pinned {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := map[string]pinned{}
	for name, h := range k.sessions {
		known[name] = h
	}
	return known
}

// looksRestored compares what a new life shows with what the last one left.
func (k *killTest) looksRestored(t *testing.T, before stored) {
	t.Helper()
	now := k.daemon.Members(t)
	if k.ids == nil {
		k.ids = map[string]string{}
		for name, m := range now {
			k.ids[name] = m.ID
		}
		return
	}
	for name, m := range now {
		if m.ID != k.ids[name] {
			t.Errorf("the id of %s was %s and is %s", name, k.ids[name], m.ID)
		}
		if want := name == "paused" || name == "toggled" && k.paused; m.Paused != want {
			t.Errorf("%s is paused: %v, want %v", name, m.Paused, want)
		}
		was := before.breakers[m.ID]
		if was.state != "open" || !was.next.After(time.Now()) {
			continue
		}
		k.resting++
		if m.State != "open" || !same(m.Due(), was.next) {
			t.Errorf("%s rested until %v, and is %+v", name, was.next, m)
		}
	}
}
