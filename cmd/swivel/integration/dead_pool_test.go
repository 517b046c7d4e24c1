package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestClientsOfADeadPoolAreAnsweredAtOnce lets 200 clients ask a daemon whose
// proxies are all dead, ten times a second each.
func TestClientsOfADeadPoolAreAnsweredAtOnce(t *testing.T) {
	const clients, lasts, pause = 200, 6 * time.Second, 100 * time.Millisecond
	var lines []string
	for range 30 {
		lines = append(lines, newToy(t, "127.0.0.31").hostPort) // where nobody listens
	}
	d := startDaemon(t, swiveltest.Setup{Lines: lines})
	swiveltest.Eventually(t, 20*time.Second, "all proxies rest", func() bool {
		code, _, err := refused(d.Listen)
		return err == nil && code == "no_proxy"
	})
	before := d.residentKiB(t)
	var mu sync.Mutex
	var took []time.Duration
	codes := map[string]int{}
	var asking sync.WaitGroup
	begin := time.Now()
	for i := range clients {
		asking.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			<-time.After(time.Duration(i) * pause / clients)
			for time.Since(begin) < lasts {
				code, one, err := refused(d.Listen)
				if err != nil {
					code = err.Error()
				}
				mu.Lock()
				took = append(took, one)
				codes[code]++
				mu.Unlock()
				<-tick.C
			}
		})
	}
	asking.Wait()
	after, own := d.residentKiB(t), d.ownTimes(t, "no_proxy")
	t.Logf("%d answers (%v): clients waited %s, on this machine as busy as it is; swivel itself took %s; it had %d KiB, and then %d",
		len(took), codes, spread(took), spread(own), before, after)
	if codes["no_proxy"]+codes["attempts_spent"] != len(took) || codes["attempts_spent"] > 3*30 { // the latter carried a test
		t.Errorf("other answers came: %v", codes)
	}
	if quantile(own, .5) > 5*time.Millisecond {
		t.Errorf("half of the answers took more than %v", quantile(own, .5))
	}
	if after > before+20<<10 && !swiveltest.RaceDetector {
		t.Errorf("the daemon has grown from %d to %d KiB", before, after)
	}
}

func quantile(took []time.Duration, share float64) time.Duration {
	slices.Sort(took)
	return took[int(share*float64(len(took)-1))]
}

func spread(took []time.Duration) string {
	return fmt.Sprintf("p50 %v, p99 %v, at most %v", quantile(took, .5), quantile(took, .99), quantile(took, 1))
}

// ownTimes are how long the daemon itself took for answers with the code, by its
// log.
func (d daemon) ownTimes(t testing.TB, code string) (took []time.Duration) {
	t.Helper()
	for _, x := range d.Lines(t, "exchange") {
		if x.Code == code {
			took = append(took, x.Took.Duration())
		}
	}
	return took
}

// refused asks for a tunnel and returns the reason why there is none, and how
// long the answer took.
func refused(proxy string) (code string, took time.Duration, err error) {
	began := time.Now()
	c, err := net.DialTimeout("tcp", proxy, 10*time.Second)
	if err != nil {
		return "", 0, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, "CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return "", 0, err
	}
	return resp.Header.Get("X-Swivel-Error"), time.Since(began), nil
}

// residentKiB is how much memory the daemon has.
func (d daemon) residentKiB(t testing.TB) (kib int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.PID()))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
