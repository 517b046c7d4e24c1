package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

const (
	bigList   = 100_000              // lines
	exchanged = 1000                 // of them, with each reload
	reloads   = 4                    // two are enough with the race detector, which makes them slow
	pace      = 5 * time.Millisecond // between two requests
)

// TestReloadsOfALargeListHurtNoClient: 200 tunnels a second are opened and used,
// on time whatever becomes of those before, while a list of 100,000 is reloaded
// again and again. None fails, and a proxy that rests goes on resting. How long
// they take is printed; the limit is for a machine that others keep busy, too, and
// not for the race detector, with which swivel needs ten times as long.
func TestReloadsOfALargeListHurtNoClient(t *testing.T) {
	o := newOrigin(t)
	sound, ill := newToy(t, "127.0.0.31"), newToy(t, "127.0.0.32")
	sound.open(t, carry)
	ill.open(t, answer("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"))
	list := func(generation int) []string {
		lines := make([]string, 0, bigList)
		lines = append(lines, ill.hostPort+" name=ill weight=100000")
		for i := 1; i < bigList; i++ { // each is somebody else to swivel
			lines = append(lines, fmt.Sprintf("user%d:pass@%s", generation*exchanged+i, sound.hostPort))
		}
		return lines
	}
	d := startDaemon(t, swiveltest.Setup{Lines: list(0)})
	var next [reloads]string // made in advance: it is not this process that is measured
	for i := range next {
		next[i] = filepath.Join(t.TempDir(), "proxies.txt")
		writeFile(t, next[i], strings.Join(list(i+1), "\n")+"\n", 0o600)
	}
	l := &paced{proxy: d.Listen, target: strings.TrimPrefix(o.http, "http://")}
	swiveltest.Eventually(t, 20*time.Second, "the ill proxy rests", func() bool {
		_ = l.request()
		return len(d.Find(t, "state=open")) == 1
	})
	before := d.Find(t, "state=open")[0]

	usual := l.during(t, func() { time.Sleep(2 * time.Second) })
	count := reloads
	if swiveltest.RaceDetector {
		count = 2
	}
	took := time.Now()
	meanwhile := l.during(t, func() {
		for _, file := range next[:count] {
			d.reload(t, file)
		}
	})
	t.Logf("%d reloads of %d lines in %v", count, bigList, time.Since(took).Round(time.Millisecond))
	t.Logf("usual:      %v", usual)
	t.Logf("meanwhile:  %v", meanwhile)
	if got := d.Find(t, "state=open"); len(got) != 1 || got[0].ID != before.ID || !got[0].Due().Equal(before.Due()) {
		t.Errorf("%+v rests, want %+v", got, before)
	}
	if limit := max(10*usual.p99, 2*time.Second); meanwhile.p99 > limit && !swiveltest.RaceDetector {
		t.Errorf("p99 %v while reloading, and %v else", meanwhile.p99, usual.p99)
	}
}

// reload replaces the list and waits until it is in use. Of the log, which grows
// with every request, it reads what is new.
func (d daemon) reload(t *testing.T, list string) {
	t.Helper()
	log, err := os.Open(d.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(list, d.List); err != nil {
		t.Fatal(err)
	}
	d.Signal(t, syscall.SIGHUP)
	want := fmt.Sprintf(`"added":%d,"kept":%d,"removed":%d`, exchanged, bigList-exchanged, exchanged)
	var news []byte
	swiveltest.Eventually(t, 2*time.Minute, "the list is in use", func() bool {
		more, err := io.ReadAll(log)
		news = append(news, more...)
		return err == nil && bytes.Contains(news, []byte(want))
	})
}

// paced makes requests at a fixed pace.
type paced struct{ proxy, target string }

// durations are how long requests took, from the time at which they were due.
type durations struct {
	requests      int
	p50, p99, max time.Duration
}

func (s durations) String() string {
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	return fmt.Sprintf("%d requests, p50 %v, p99 %v, at most %v", s.requests, round(s.p50), round(s.p99), round(s.max))
}

// during makes requests as long as do takes. None may fail.
func (l *paced) during(t *testing.T, do func()) durations {
	t.Helper()
	stop := make(chan struct{})
	var all []time.Duration
	var mu sync.Mutex
	var working sync.WaitGroup
	working.Go(func() {
		for due := time.Now(); ; due = due.Add(pace) {
			select {
			case <-stop:
				return
			case <-time.After(time.Until(due)):
			}
			working.Go(func() {
				if err := l.request(); err != nil {
					t.Errorf("a client was hurt: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, time.Since(due))
			})
		}
	})
	func() {
		defer working.Wait()
		defer close(stop) // also when do ends the test
		do()
	}()
	slices.Sort(all)
	return durations{len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1]}
}

// request opens a tunnel and asks for something through it.
func (l *paced) request() error {
	c, err := net.DialTimeout("tcp", l.proxy, 10*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	br := bufio.NewReader(c)
	for _, ask := range []struct{ method, text string }{
		{http.MethodConnect, "CONNECT " + l.target + " HTTP/1.1\r\nHost: " + l.target + "\r\n\r\n"},
		{http.MethodGet, "GET /ip HTTP/1.1\r\nHost: " + l.target + "\r\nConnection: close\r\n\r\n"},
	} {
		if _, err := io.WriteString(c, ask.text); err != nil {
			return err
		}
		resp, err := http.ReadResponse(br, &http.Request{Method: ask.method})
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", ask.method, resp.Status)
		}
	}
	_, err = io.Copy(io.Discard, br)
	return err
}
