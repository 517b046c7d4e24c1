package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// connectStatus asks for a tunnel and returns the answer's status and fields.
func connectStatus(t testing.TB, proxy, target string, fields ...string) (int, http.Header) {
	t.Helper()
	c, err := net.DialTimeout("tcp", proxy, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, "CONNECT "+target+" HTTP/1.1\r\n"+strings.Join(append([]string{"Host: " + target}, fields...), "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header
}

// TestKilledDaemonKeepsBansAndRestingTargets: one proxy refuses a target, and
// another target answers nobody.
func TestKilledDaemonKeepsBansAndRestingTargets(t *testing.T) {
	t.Parallel()
	denies, carries := newToy(t, "127.0.0.41"), newToy(t, "127.0.0.42")
	echo := newEcho(t)
	down := deadTarget(t)
	denies.open(t, denyTarget(echo))
	carries.open(t, carry)
	s := swiveltest.Setup{Dir: t.TempDir(), Lines: []string{denies.hostPort + " name=denies", carries.hostPort + " name=carries"},
		Env: []string{"SWIVEL_TARGETS_REST=50s"}}
	d := startDaemon(t, s)
	swiveltest.Eventually(t, 20*time.Second, "the proxy has refused the target", func() bool {
		return use(t, d.Listen, echo) && count(t, d.DB, "bans") == 1
	})
	other := newEcho(t)
	swiveltest.Eventually(t, 20*time.Second, "nobody reaches the other target", func() bool {
		use(t, d.Listen, other) // makes both credible
		connectStatus(t, d.Listen, down)
		return count(t, d.DB, "target_rests") == 1
	})
	var banned, rested [2]float64
	read := func(i int) {
		query(t, d.DB, "SELECT until FROM bans", &banned[i])
		query(t, d.DB, "SELECT until FROM target_rests", &rested[i])
	}
	read(0)
	d.Kill(t)
	d = startDaemon(t, s)
	id := d.Member(t, "denies").ID
	for range 10 {
		if !use(t, d.Listen, echo) {
			t.Error("a client was hurt")
		}
	}
	status, fields := connectStatus(t, d.Listen, down)
	if status != 502 || fields.Get("X-Swivel-Error") != "target_down" || fields.Get("Retry-After") == "" {
		t.Errorf("a target that rests is answered with %d %v", status, fields)
	}
	swiveltest.Eventually(t, 5*time.Second, "all is logged", func() bool { return len(d.Lines(t, "exchange")) >= 11 })
	if tried := d.attemptsOf(t, id); len(tried) > 0 {
		t.Errorf("the proxy that refuses the target was asked again: %+v", tried)
	}
	read(1)
	if banned[0] != banned[1] || rested[0] != rested[1] {
		t.Errorf("ban until %f, was %f; rest until %f, was %f", banned[1], banned[0], rested[1], rested[0])
	}
}

// use opens a tunnel to an echo and tries it.
func use(t testing.TB, proxy, echo string) bool {
	t.Helper()
	u := openTunnel(t, proxy, echo)
	defer u.Close()
	return u.works()
}

// deadTarget is an address where nobody listens.
func deadTarget(t testing.TB) string {
	return newToy(t, "127.0.0.43").hostPort
}

// denyTarget is carry, but for one target.
func denyTarget(target string) func(net.Conn) {
	return func(c net.Conn) {
		var head bytes.Buffer
		request, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &head)))
		switch {
		case err != nil:
		case request.Host == target:
			_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		default:
			carry(&replayed{c, io.MultiReader(&head, c)})
		}
	}
}

// replayed is a connection of which something was read already.
type replayed struct {
	net.Conn
	input io.Reader
}

func (r *replayed) Read(p []byte) (int, error) { return r.input.Read(p) }

// TestKilledDaemonGoesOnCounting: outcomes before the kill and after it add up
// to the rate that opens the breaker.
func TestKilledDaemonGoesOnCounting(t *testing.T) {
	t.Parallel()
	o, ill, sound := newOrigin(t), newToy(t, "127.0.0.44"), newToy(t, "127.0.0.45")
	ill.open(t, carry)
	sound.open(t, carry)
	s := swiveltest.Setup{Dir: t.TempDir(), Lines: []string{ill.hostPort + " name=ill", sound.hostPort + " name=sound"},
		Env: []string{"SWIVEL_BREAKER_CONSECUTIVE_FAILURES=0", "SWIVEL_BREAKER_MIN_SAMPLES=30", "SWIVEL_BREAKER_WINDOW=1h", "SWIVEL_BREAKER_ERROR_RATIO=0.1"}}
	d := startDaemon(t, s)
	client := d.browse(o)
	id := d.Member(t, "ill").ID
	visitUntil(t, client, o, "it has succeeded often", func() bool { return len(d.attemptsOf(t, id)) >= 12 })
	ill.shut()
	visitUntil(t, client, o, "it has failed", func() bool { return outcomes(t, d, id, "failure") >= 6 })
	killed := time.Now()
	swiveltest.Eventually(t, 3*time.Second, "a second has passed, after which everything is stored", func() bool { return time.Since(killed) > time.Second })
	want := storedBreaker(t, d, id)
	d.Kill(t)
	if got := storedBreaker(t, d, id); got != want || want.recent == "" || want.window == "[]" {
		t.Errorf("after the kill the row is %+v, was %+v", got, want)
	}
	d = startDaemon(t, s)
	if m := d.Member(t, "ill"); m.State != "closed" {
		t.Fatalf("after the restart it is %s", m.State)
	}
	client = d.browse(o)
	visitUntil(t, client, o, "the breaker opens", func() bool { return d.Member(t, "ill").State == "open" })
	seen := len(d.attemptsOf(t, id))
	found := d.Lines(t, "breaker")
	for _, moved := range found {
		if moved.Rule != "rate" || moved.Samples < 30 || moved.Rate < 0.1 || moved.Request == "" {
			t.Errorf("%+v", moved)
		}
	}
	if len(found) != 1 || seen >= 30 {
		t.Errorf("%d transitions, after %d attempts since the restart; 30 in all were needed", len(found), seen)
	}
}

// visitUntil makes requests, none of which may fail, until the answer is yes.
func visitUntil(t *testing.T, client *http.Client, o *origin, what string, yes func() bool) {
	t.Helper()
	swiveltest.Eventually(t, 30*time.Second, what, func() bool {
		if _, err := get(client, o.https+"/ip"); err != nil {
			t.Fatalf("a client was hurt: %v", err)
		}
		return yes()
	})
}

func outcomes(t *testing.T, d daemon, id, outcome string) (n int) {
	t.Helper()
	for _, a := range d.attemptsOf(t, id) {
		if a.Outcome == outcome {
			n++
		}
	}
	return n
}

// breakerRow is what the next life of a breaker depends on.
type breakerRow struct {
	failures, window, recent, suspicions, opens string
}

func storedBreaker(t *testing.T, d daemon, id string) (row breakerRow) {
	t.Helper()
	query(t, d.DB, fmt.Sprintf("SELECT failure_window_json, window_json, recent, suspicions, opens_in_row FROM circuit_breaker_states WHERE proxy_id = '%s'", id),
		&row.failures, &row.window, &row.recent, &row.suspicions, &row.opens)
	return row
}

// TestRestsGrowOverKills: a proxy that stays dead rests for longer each time,
// however often the daemon is killed between.
func TestRestsGrowOverKills(t *testing.T) {
	t.Parallel()
	o, ill, sound := newOrigin(t), newToy(t, "127.0.0.46"), newToy(t, "127.0.0.47")
	sound.open(t, carry)
	s := swiveltest.Setup{Dir: t.TempDir(), Lines: []string{ill.hostPort + " name=ill", sound.hostPort + " name=sound"},
		Env: []string{"SWIVEL_BREAKER_OPEN_TIMEOUT=300ms", "SWIVEL_BREAKER_JITTER=0", "SWIVEL_BREAKER_CONSECUTIVE_FAILURES=1"}}
	for round := 1; round <= 4; round++ {
		d := startDaemon(t, s)
		id, opens := d.Member(t, "ill").ID, 0
		visitUntil(t, d.browse(o), o, "it opens once more", func() bool {
			if _, ok := storedState(t, d.DB, id); ok {
				query(t, d.DB, "SELECT opens_in_row FROM circuit_breaker_states WHERE proxy_id = '"+id+"'", &opens)
			}
			return opens >= round
		})
		if opens != round {
			t.Errorf("round %d: %d opens in a row", round, opens)
		}
		var rest float64
		query(t, d.DB, "SELECT next_test_time - last_state_change FROM circuit_breaker_states WHERE proxy_id = '"+id+"'", &rest)
		if want := 0.3 * float64(int(1)<<(round-1)); rest < want-0.001 || rest > want+0.001 {
			t.Errorf("round %d: the rest is %.3fs, want %.3fs", round, rest, want)
		}
		d.Kill(t)
	}
}

// TestPauseSurvivesAKill at the moment the answer is there.
func TestPauseSurvivesAKill(t *testing.T) {
	t.Parallel()
	a, b := newToy(t, "127.0.0.48"), newToy(t, "127.0.0.49")
	a.open(t, carry)
	b.open(t, carry)
	echo := newEcho(t)
	s := swiveltest.Setup{Dir: t.TempDir(), Lines: []string{a.hostPort + " name=a tag=vendor", b.hostPort + " name=b"}}
	d := startDaemon(t, s)
	status, told := d.Post(t, "/api/v1/tags/vendor/pause", `{"reason": "maintenance"}`)
	d.Kill(t)
	if status != 200 {
		t.Fatalf("pause: %d: %s", status, told)
	}
	d = startDaemon(t, s)
	for range 20 {
		if !use(t, d.Listen, echo) {
			t.Error("a client was hurt")
		}
	}
	if n := a.accepted.Load(); n != 0 {
		t.Errorf("the paused proxy was connected to %d times", n)
	}
	through, fields := connectStatus(t, d.Listen, d.Admin)
	if through != 508 {
		t.Errorf("the admin API is reached through the proxy: %d %v", through, fields)
	}
}
