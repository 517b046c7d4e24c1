// Package admin is the listener for operators, apart from the one for clients:
// health, readiness, the state of the pool as JSON, and pausing proxies.
//
// Who asks has to show a token, if there is one; without one it listens on
// loopback only. A page in the operator's browser could still reach that by a
// name of its own that resolves to 127.0.0.1, so without a token requests under
// such a name are refused.
package admin

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"swivel/cmd/swivel/internal/feed"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/cmd/swivel/internal/socket"
	"swivel/cmd/swivel/internal/traffic"
	"swivel/pool"
	"swivel/pool/route"
	"swivel/storage"
)

// Server is the admin listener.
type Server struct {
	listener net.Listener
	http     *http.Server
	lock     lock
	operator atomic.Pointer[Operator]
}

// Operator is what the daemon lets an operator see and do.
type Operator interface {
	Pool() *pool.Pool
	// Stopping says that no new clients are taken.
	Stopping() bool
	// WrongToken says that somebody at the address has shown one.
	WrongToken(address string)
	// Audit stores what is going to be done; Deeds are the last of that, the latest
	// first.
	Audit(storage.Deed) error
	Deeds(limit int) ([]storage.Deed, error)
	// Pause takes proxies out of use, Resume puts them back; both are stored
	// before they return.
	Pause(members []*pool.Proxy, why pool.Pause) error
	Resume(members []*pool.Proxy, by string) error
	// Report takes a client's word about a proxy. It says until when that is
	// banned from the target, and whether the word counts.
	Report(pool.Report) (until time.Time, counts bool)
	// Refused says why clients do not get a target, whatever the pool is like: a
	// status and an error code. It is empty for one that they may have.
	Refused(target string) string
	// Reload reads the lists again, and whatever else may change while it runs.
	// Its error says what was refused, and stays as it was.
	Reload() (Reloaded, error)
	// Status is how the daemon does, beside its pool.
	Status() Status
	// Fleet is how the daemon stands in its fleet; false if there is none.
	Fleet() (fleet.Status, bool)
	// Traffic is what its clients got lately.
	Traffic() *traffic.Recorder
	// Feed tells what happens.
	Feed() *feed.Feed
	// Metrics answers a scrape.
	Metrics() http.Handler
	// ParseUser reads a proxy user name as the listener for clients does.
	ParseUser(user string) (name string, r route.Route, err error)
}

// Listen opens the socket and is New with it.
func Listen(ctx context.Context, address string, token pool.Secret) (*Server, error) {
	ln, err := socket.Listen(ctx, &net.ListenConfig{}, address)
	if err != nil {
		return nil, err
	}
	return New(ln, token), nil
}

// New takes over a listener. Who asks for more than health has to show the token;
// "": nobody has to.
func New(ln net.Listener, token pool.Secret) *Server {
	s := &Server{listener: lingering{ln}, lock: newLock(token)}
	s.http = &http.Server{Handler: s.handler(), ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
	return s
}

// Addr is where it listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Close.
func (s *Server) Serve(o Operator) {
	s.operator.Store(&o)
	_ = s.http.Serve(s.listener)
}

func (s *Server) pool() *pool.Pool { return (*s.operator.Load()).Pool() }

// Close ends the listener and its connections.
func (s *Server) Close() {
	_ = s.http.Close()
	_ = s.listener.Close()
}

// endpoint is a path and who answers under it.
type endpoint struct {
	pattern string // of [http.ServeMux]
	serve   http.HandlerFunc
}

// open are the routes that take no token: the page, too, has nothing to tell
// before its reader shows it one.
func (s *Server) open() []endpoint {
	return []endpoint{
		{"GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) }},
		{"GET /readyz", s.ready},
		{"GET /openapi.yaml", func(w http.ResponseWriter, r *http.Request) { serveFile(w, r, "openapi.yaml", openAPIText) }},
		{"GET /{$}", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, "index.html") }},
		{"GET /page/{file}", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, r.PathValue("file")) }},
	}
}

// guarded are the routes that take the token.
func (s *Server) guarded() []endpoint {
	return []endpoint{
		{"GET /metrics", func(w http.ResponseWriter, r *http.Request) { (*s.operator.Load()).Metrics().ServeHTTP(w, r) }},
		{"GET /api/v1/proxies", s.proxies},
		{"GET /api/v1/proxies/{id}", s.proxy},
		{"GET /api/v1/summary", s.summary},
		{"GET /api/v1/history", s.history},
		{"GET /api/v1/fleet", s.fleet},
		{"GET /api/v1/explain", s.explain},
		{"GET /api/v1/audit", s.audit},
		{"GET /api/v1/events", s.events},
		{"POST /api/v1/reload", s.reload},
		{"POST /api/v1/report", s.report},
		{"POST /api/v1/proxies/{id}/{action}", s.act},
		{"POST /api/v1/tags/{tag}/{action}", s.act},
	}
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, one := range s.open() {
		mux.HandleFunc(one.pattern, one.serve)
	}
	for _, one := range s.guarded() {
		mux.HandleFunc(one.pattern, s.withToken(one.serve))
	}
	pages := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.lock.set: // a page of somebody else's has no token
		case !localName(r.Host):
			fault(w, r, http.StatusForbidden, "use the address this listens on")
			return
		case pages.Check(r) != nil:
			fault(w, r, http.StatusForbidden, "changes are taken from no page but the one that is served here")
			return
		}
		if _, pattern := mux.Handler(r); pattern == "" && isAPI(r) {
			w = unserved{w}
		}
		mux.ServeHTTP(w, r)
	})
}

// localName says whether a Host field names this machine by address.
func localName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// ready says whether an exchange could be served now.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if (*s.operator.Load()).Stopping() {
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	}
	if wait := s.pool().RetryAfter(time.Now()); wait > 0 {
		http.Error(w, "no proxy is available for "+wait.Round(time.Second).String(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}
