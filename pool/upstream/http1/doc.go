// Package http1 reads and writes HTTP/1.x messages the way a forward proxy
// has to: fields keep their order, their spelling and their bytes, nothing is
// added, and a message whose end two readers could see in different places is
// refused instead of guessed at.
//
// net/http cannot serve here because it canonicalises and sorts field names,
// re-encodes the request target, adds fields of its own and joins what it
// read; sites tell scrapers by exactly these traces.
//
// A reader of a request is strict (RFC 9112: bare LF, obs-fold, blanks around
// names, doubtful framing are errors), a reader of a response repairs what can
// be repaired safely, because the client can do nothing about a sloppy server;
// behind such a message the connection is not used again.
//
//	head, err := http1.ReadHead(br, 64<<10)
//	var req http1.Request
//	err = req.Parse(head)
//	framing, err := req.Framing()
//	body := http1.NewBody(br, framing)
//
// Nothing in this package is safe for concurrent use, and nothing in it starts
// a goroutine or sets a deadline: both are the caller's business.
package http1
