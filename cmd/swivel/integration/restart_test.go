package integration

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// rest is long enough for a restart to leave most of it, on a slow machine too.
const rest = 5 * time.Second

// restartTest is a pool of two, of which one dies and comes back.
type restartTest struct {
	origin                 *origin
	ill, sound             *toy
	illSource, soundSource string
	setup                  swiveltest.Setup
	daemon                 daemon

	illID      string
	restsUntil time.Time
}

// TestKilledDaemonKeepsAwayFromAProxyThatRests: an upstream dies, its breaker
// opens, the daemon is killed and started again. What is left of the rest is
// kept; then two probes bring the upstream back.
func TestKilledDaemonKeepsAwayFromAProxyThatRests(t *testing.T) {
	r := &restartTest{origin: newOrigin(t), illSource: "127.0.0.31", soundSource: "127.0.0.32"}
	r.ill, r.sound = newToy(t, r.illSource), newToy(t, r.soundSource)
	r.ill.open(t, carry)
	r.sound.open(t, carry)
	r.setup = swiveltest.Setup{
		Dir:   t.TempDir(),
		Lines: []string{r.ill.hostPort + " name=ill", r.sound.hostPort + " name=sound"},
		Env:   []string{"SWIVEL_BREAKER_OPEN_TIMEOUT=" + rest.String(), "SWIVEL_BREAKER_JITTER=0", "SWIVEL_BREAKER_SLOW_START=1ms"},
	}
	r.daemon = startDaemon(t, r.setup)
	r.bothCarry(t)
	r.breakerOpens(t)
	r.killAndStart(t)
	r.restIsKept(t)
	r.twoProbesClose(t)
	r.bothCarry(t)
}

// bothCarry: of 60 tunnels fewer than ten through one of two equals happen
// less than once in ten million runs.
func (r *restartTest) bothCarry(t *testing.T) {
	t.Helper()
	client, count := r.daemon.browse(r.origin), map[string]int{}
	for range 60 {
		count[r.visit(t, client)]++
	}
	if count[r.illSource] < 10 || count[r.soundSource] < 10 {
		t.Errorf("of 60 requests %d and %d left through the two proxies, want about half each",
			count[r.illSource], count[r.soundSource])
	}
}

// visit makes one request, which has to succeed whatever the proxies do.
func (r *restartTest) visit(t *testing.T, client *http.Client) (source string) {
	t.Helper()
	source, err := get(client, r.origin.https+"/ip")
	if err != nil {
		t.Fatalf("a client was hurt: %v", err)
	}
	return strings.TrimSpace(source)
}

// breakerOpens: the dead proxy is left alone after exactly five failures, none
// of which a client notices.
func (r *restartTest) breakerOpens(t *testing.T) {
	t.Helper()
	r.ill.shut()
	client := r.daemon.browse(r.origin)
	swiveltest.Eventually(t, 20*time.Second, "the breaker opens", func() bool {
		r.visit(t, client)
		return r.daemon.Member(t, "ill").State == "open"
	})
	m := r.daemon.Member(t, "ill")
	if m.Cause == "" {
		t.Error("the admin API names no cause")
	}
	if left := time.Until(m.Due()); left <= 0 || left > rest {
		t.Errorf("the rest ends in %v, want at most %v", left, rest)
	}
	r.illID, r.restsUntil = m.ID, m.Due()
	r.attemptsAre(t, 5, "failure")
}

// attemptsAre counts the attempts with the ill proxy that ended so, in the log
// of the running daemon. A tunnel is logged only when it ends, which its client
// does not notice.
func (r *restartTest) attemptsAre(t *testing.T, want int, outcome string) {
	t.Helper()
	var n int
	swiveltest.Eventually(t, 5*time.Second, "the attempts are logged", func() bool {
		n = 0
		for _, a := range r.daemon.attemptsOf(t, r.illID) {
			if a.Outcome == outcome {
				n++
			}
		}
		return n >= want
	})
	if n != want {
		t.Errorf("the log has %d attempts that ended as %s, want %d", n, outcome, want)
	}
}

// killAndStart waits for the row, since what happened in the last 50 ms before
// a kill may be lost.
func (r *restartTest) killAndStart(t *testing.T) {
	t.Helper()
	swiveltest.Eventually(t, 2*time.Second, "the open state is stored", func() bool {
		row, ok := storedState(t, r.daemon.DB, r.illID)
		return ok && row.state == "open"
	})
	r.daemon.Kill(t)
	r.ill.accepted.Store(0)
	r.ill.open(t, hangUp) // only to count who comes
	r.daemon = startDaemon(t, r.setup)
}

// restIsKept: until just before the rest is over nobody connects to the dead
// proxy, however much traffic there is.
func (r *restartTest) restIsKept(t *testing.T) {
	t.Helper()
	m := r.daemon.Member(t, "ill")
	if m.ID != r.illID || m.State != "open" {
		t.Fatalf("after the restart the proxy is %+v, want id %s and open", m, r.illID)
	}
	if off := m.Due().Sub(r.restsUntil); math.Abs(off.Seconds()) > 0.01 {
		t.Errorf("the restart moved the end of the rest by %v", off)
	}
	if left := time.Until(r.restsUntil); left < rest/5 {
		t.Fatalf("only %v of the rest are left after the restart: this machine is too slow for the test to show anything", left)
	}
	const margin = 200 * time.Millisecond
	client, visits := r.daemon.browse(r.origin), 0
	for ; time.Until(r.restsUntil) > margin; visits++ {
		r.visit(t, client)
	}
	if n := r.ill.accepted.Load(); n != 0 {
		t.Errorf("the resting proxy was connected to %d times", n)
	}
	if visits < 10 {
		t.Errorf("only %d requests were made meanwhile, too few to show anything", visits)
	}
}

// twoProbesClose: the revived proxy is tested by two requests and no more
// before it is used again.
func (r *restartTest) twoProbesClose(t *testing.T) {
	t.Helper()
	r.ill.shut()
	r.ill.accepted.Store(0)
	r.ill.open(t, carry)
	client := r.daemon.browse(r.origin)
	swiveltest.Eventually(t, 20*time.Second, "the breaker closes", func() bool {
		r.visit(t, client)
		return r.daemon.Member(t, "ill").State == "closed"
	})
	if n := r.ill.accepted.Load(); n != 2 {
		t.Errorf("the proxy was connected to %d times before its breaker closed, want 2", n)
	}
	r.attemptsAre(t, 2, "success")
	for _, a := range r.daemon.attemptsOf(t, r.illID) {
		if !a.Probe {
			t.Errorf("an attempt that was no probe: %+v", a)
		}
	}
}
