package forward

import (
	"sync"
	"time"

	"swivel/pool/upstream/http1"
)

// hints passes 1xx responses on to the client, whole and in front of the one
// response: several attempts may be under way at once, and one that was overtaken
// goes on when the client has its answer, and the connection its next request.
//
// Nothing of a response has reached the client with them: a request that is
// repeated may bring them once more, and a client has to take any number (RFC 9110
// section 15.2). But for the 100: it asks for the body, which is there once.
type hints struct {
	mu        sync.Mutex // also over the write, so that nothing comes between
	over      bool
	continued bool // the client was told 100
}

// end says that what the client gets next is the response.
func (h *hints) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

// interim passes a 1xx response on, which only HTTP/1.1 clients know. Once they are
// over, the head that is looked at may be that of the next request.
func (x *exchange) interim(r *http1.Response) {
	x.hints.mu.Lock()
	defer x.hints.mu.Unlock()
	if x.hints.over || x.Head.Minor == 0 || r.Status == 100 && x.hints.continued {
		return
	}
	x.hints.continued = x.hints.continued || r.Status == 100
	b := http1.AppendStatusLine(nil, r.Status, r.Reason)
	b = r.Fields.EndToEnd(nil, http1.Framing{}).Append(b)
	_ = x.Client.SetWriteDeadline(time.Now().Add(x.handler.settings.Response))
	_, _ = x.Client.Write(append(b, "\r\n"...))
}
