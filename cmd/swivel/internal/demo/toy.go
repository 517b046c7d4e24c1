package demo

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strings"
	"time"
)

// Bounds of what a toy waits for.
const (
	dialTimeout     = 10 * time.Second
	responseTimeout = time.Minute // for a response head
)

// toy is one proxy. It is an HTTP handler for its own port.
type toy struct {
	name   string
	weight float64
	does   string // for people
	dead   bool   // nothing of what follows but addr
	manner manner // nil: sound

	addr             netip.AddrPort // where clients connect
	site, secureSite netip.AddrPort // where Host is, for this toy

	ctx       context.Context // ends its tunnels
	left      func()          // to be called at the end of each tunnel
	dialer    net.Dialer
	transport *http.Transport
	plain     http.Handler
}

// manner is what a toy does with a request first. False: that was all.
type manner func(t *toy, w http.ResponseWriter, r *http.Request) bool

// failsUntil answers 502. It is what proxies say whose own uplink is down, and
// it leaves open who is at fault: only when another toy reaches the target in
// the same exchange is this one convicted, and three such verdicts open its
// breaker, since it has yet to work for the first time. A connection just closed would be judged alike, but a status can
// be read in the log, and with curl. Proxy-Status keeps a 502 to a plain request
// from passing for the target's own.
func failsUntil(end time.Time, now func() time.Time) manner {
	return func(t *toy, w http.ResponseWriter, _ *http.Request) bool {
		if !now().Before(end) {
			return true
		}
		t.refuse(w, http.StatusBadGateway, "proxy_internal_error", "is out of order")
		return false
	}
}

// late waits before it goes on.
func late(delay time.Duration) manner {
	return func(_ *toy, _ http.ResponseWriter, r *http.Request) bool {
		wait := time.NewTimer(delay)
		defer wait.Stop()
		select {
		case <-wait.C:
			return true
		case <-r.Context().Done():
			return false
		}
	}
}

// build makes what a living toy forwards with. The environment's own proxies
// are not asked: a toy is where the way ends.
func (t *toy) build(ctx context.Context, left func()) {
	t.ctx, t.left = ctx, left
	t.dialer.Timeout = dialTimeout
	t.transport = &http.Transport{
		DialContext: t.dial, DisableCompression: true, ResponseHeaderTimeout: responseTimeout, IdleConnTimeout: idleTimeout,
	}
	t.plain = &httputil.ReverseProxy{
		Rewrite: asReceived, Transport: t.transport, FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { t.unreachable(w, err) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
}

func (t *toy) closeIdle() {
	if t.transport != nil {
		t.transport.CloseIdleConnections()
	}
}

// asReceived takes back what ReverseProxy does to protect an origin behind it:
// a forward proxy leaves the query and what the client says of itself alone.
func asReceived(r *httputil.ProxyRequest) {
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}

// ServeHTTP serves one request of a client of the proxy.
func (t *toy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case t.manner != nil && !t.manner(t, w, r):
	case r.Method == http.MethodConnect:
		t.connect(w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		http.Error(w, t.name+" is a proxy: send an absolute http:// URL, or CONNECT", http.StatusBadRequest)
	default:
		// Without it the server throws a body away that is still being sent
		// when the response begins.
		_ = http.NewResponseController(w).EnableFullDuplex()
		t.plain.ServeHTTP(w, r)
	}
}

// dial connects to the target of a request. A toy knows where its site is, and
// that is all that makes the site special.
func (t *toy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	switch strings.ToLower(address) {
	case Host + ":80":
		address = t.site.String()
	case Host + ":443":
		address = t.secureSite.String()
	}
	return t.dialer.DialContext(ctx, network, address)
}

// unreachable answers for a target that could not be reached. It says whose
// fault that is (RFC 9209), so that a name with a typo is not held against the
// toys.
func (t *toy) unreachable(w http.ResponseWriter, err error) {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		t.refuse(w, http.StatusBadGateway, "dns_error", "cannot resolve the target's name")
	case errors.As(err, &op) && op.Op == "dial":
		t.refuse(w, http.StatusBadGateway, "destination_unavailable", "cannot connect to the target")
	default:
		t.refuse(w, http.StatusBadGateway, "connection_terminated", "got no answer from the target")
	}
}

func (t *toy) refuse(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Proxy-Status", t.name+"; error="+kind)
	http.Error(w, t.name+" "+text, status)
}
