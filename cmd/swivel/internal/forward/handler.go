package forward

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/elazarl/goproxy"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/lifetime"
)

// Handler serves plain requests. It is safe for concurrent use.
type Handler struct {
	transports *upstream.Transports
	registry   *tunnel.Registry
	settings   Settings
	chain      *goproxy.ProxyHttpServer
}

// Settings are what can be chosen.
type Settings struct {
	Response time.Duration // for a response head, and for each piece of a request body
	Bans     []int         // statuses of a target that is not asked again through the same proxy for a while
	// ProbeBody is how long the body of a response has to come through a resting
	// proxy that it tests, unless it ends sooner.
	ProbeBody time.Duration
	Retries   []int // statuses of a target that is asked again through another proxy, if that is safe
}

// New returns a handler that sends requests through t and relays upgraded
// connections through r.
func New(t *upstream.Transports, r *tunnel.Registry, s Settings) *Handler {
	h := &Handler{transports: t, registry: r, settings: s}
	h.chain = newChain()
	return h
}

// newChain is goproxy with every way out closed but our round tripper.
func newChain() *goproxy.ProxyHttpServer {
	chain := goproxy.NewProxyHttpServer()
	chain.Logger = silent{}
	chain.KeepHeader = true
	chain.KeepAcceptEncoding = true
	chain.KeepDestinationHeaders = true
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errDirect }
	chain.Tr = &http.Transport{DialContext: refuse, DialTLSContext: refuse}
	chain.ConnectDial = func(string, string) (net.Conn, error) { return nil, errDirect }
	chain.ConnectDialWithReq = func(*http.Request, string, string) (net.Conn, error) { return nil, errDirect }
	chain.OnRequest().DoFunc(func(r *http.Request, ctx *goproxy.ProxyCtx) (*http.Request, *http.Response) {
		ctx.RoundTripper = roundTripper{}
		return r, nil
	})
	return chain
}

// errDirect is what a path that would bypass the pool runs into.
var errDirect = errors.New("a direct connection is never made")

type silent struct{}

func (silent) Printf(string, ...any) {}

// Request is one plain request as the front read it.
type Request struct {
	Head     *http1.Request
	Framing  http1.Framing
	Host     string // what the Host field has to say
	Origin   string // the target in origin-form
	Client   net.Conn
	Reader   *bufio.Reader // of Client, behind the head
	Exchange *attempts.Exchange
}

// Result is what became of it, for the log.
type Result struct {
	Status    int
	Code      string
	Reason    string // what a refusal says
	Proxy     *pool.Proxy
	FirstByte time.Duration
	Up, Down  int64
	Reusable  bool // the client's connection can carry another request
}

// Serve answers the request. It blocks until the response is written. life is the
// client's: whoever finds that it has left ends it, and with it the request.
func (h *Handler) Serve(life *lifetime.Context, r Request) Result {
	x := &exchange{handler: h, Request: r, life: life, began: time.Now(), header: http.Header{}}
	x.source.x = x
	defer x.vacate()
	if x.takeBody() {
		h.chain.ServeHTTP(x, x.httpRequest())
	}
	x.finish()
	return x.result
}
