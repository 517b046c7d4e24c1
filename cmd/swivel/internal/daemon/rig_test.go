package daemon

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the database is read and spoilt as anyone may do it

	"swivel/breaker"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/eventlog/logtest"
	"swivel/cmd/swivel/internal/swiveltest"
	"swivel/cmd/swivel/internal/systemd"
	"swivel/pool"
	"swivel/pool/upstream/listentest"
)

// patience bounds every wait of these tests: what takes longer is stuck.
const patience = 20 * time.Second

// rig is a daemon that can be stopped and started again on its files.
type rig struct {
	*Daemon
	t    *testing.T
	cfg  config.Config
	log  logBuffer
	list string // file
	stop func()
}

// newRig makes the files and starts nothing.
func newRig(t *testing.T, lines ...string) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, cfg: config.Default(), list: filepath.Join(dir, "proxies.txt"), stop: func() {}}
	r.cfg.Listen, r.cfg.Admin, r.cfg.DB = "127.0.0.1:0", "127.0.0.1:0", filepath.Join(dir, "swivel.db")
	r.cfg.Proxies, r.cfg.Grace = []string{r.list}, config.Duration(time.Second)
	r.write(lines...)
	t.Cleanup(func() {
		r.stop()
		if t.Failed() {
			text := r.log.String()
			t.Logf("log:\n%s", text[:min(len(text), 20_000)])
		}
	})
	return r
}

// write makes the lines the proxy list.
func (r *rig) write(lines ...string) {
	r.t.Helper()
	if err := os.WriteFile(r.list, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// open opens a daemon without running it.
func (r *rig) open() (*Daemon, error) {
	log, err := eventlog.New(&r.log, "json", "info")
	if err != nil {
		r.t.Fatal(err)
	}
	return Open(r.t.Context(), r.cfg, systemd.Sockets{}, log)
}

// start runs a daemon until stop.
func (r *rig) start() {
	r.t.Helper()
	d, err := r.open()
	if err != nil {
		r.t.Fatal(err)
	}
	r.runs(d)
}

// runs runs the daemon until stop.
func (r *rig) runs(d *Daemon) {
	r.Daemon = d
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.t.Errorf("the daemon ended with: %v", err)
		}
	})
}

func (r *rig) restart() {
	r.t.Helper()
	r.stop()
	r.start()
}

// proxy returns the member with the name.
func (r *rig) proxy(name string) *pool.Proxy {
	r.t.Helper()
	for _, m := range r.pool.Proxies() {
		if m.Spec.Name == name {
			return m
		}
	}
	r.t.Fatalf("no proxy %s", name)
	return nil
}

func (r *rig) snapshot(name string) breaker.Snapshot {
	return r.proxy(name).Breaker().Snapshot(time.Now())
}

// report gives the proxy an outcome, as an exchange would.
func (r *rig) report(name string, v breaker.Verdict) {
	r.t.Helper()
	m, now := r.proxy(name), time.Now()
	permit, effect, ok := m.Breaker().Acquire(now, time.Minute)
	if !ok {
		r.t.Fatalf("%s grants nothing", name)
	}
	r.sink([]pool.Event{{Proxy: m, Effect: effect}, {Proxy: m, Effect: m.Breaker().Report(permit, v, now)}})
}

// connect asks for a tunnel and returns the status.
func (r *rig) connect(target string) int {
	r.t.Helper()
	status, err := connect(r.Addr().String(), target)
	if err != nil {
		r.t.Fatal(err)
	}
	return status
}

func connect(proxy, target string) (int, error) {
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n\r\n"); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return 0, err
	}
	return response.StatusCode, nil
}

// database gives f the database file.
func (r *rig) database(f func(*sql.DB)) {
	r.t.Helper()
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Opaque: r.cfg.DB, RawQuery: "_busy_timeout=5000"}).String())
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	f(db)
}

// exec changes the database.
func (r *rig) exec(statement string, args ...any) {
	r.t.Helper()
	r.database(func(db *sql.DB) {
		if _, err := db.Exec(statement, args...); err != nil {
			r.t.Fatalf("%s: %v", statement, err)
		}
	})
}

// number asks the database for one.
func (r *rig) number(query string, args ...any) (n float64) {
	r.t.Helper()
	r.database(func(db *sql.DB) {
		if err := db.QueryRow(query, args...).Scan(&n); err != nil {
			r.t.Fatalf("%s: %v", query, err)
		}
	})
	return n
}

// eventually asks until the answer is yes.
func (r *rig) eventually(what string, yes func() bool) {
	r.t.Helper()
	swiveltest.Eventually(r.t, patience, what, yes)
}

// scripted is a proxy that answers every connection with the reply and closes
// it. It returns its address.
func scripted(t *testing.T, reply string, met func()) string {
	t.Helper()
	return listentest.Serve(t, func(conn net.Conn) {
		met()
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, reply)
		}
	})
}

func nothing() {}

// logBuffer is a log that is read while it is written.
type logBuffer struct{ logtest.Buffer }

// lines returns the lines whose message begins so.
func (b *logBuffer) lines(message string) (all []map[string]any) {
	for line := range strings.Lines(b.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) != nil {
			continue
		}
		if text, _ := fields["message"].(string); strings.HasPrefix(text, message) {
			all = append(all, fields)
		}
	}
	return all
}

func (r *rig) rename(from, to string) {
	r.t.Helper()
	if err := os.Rename(from, to); err != nil {
		r.t.Fatal(err)
	}
}
