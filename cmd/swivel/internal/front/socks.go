package front

import (
	"cmp"
	"errors"
	"net"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/socks"
	"swivel/pool"
)

// socks serves a client that speaks SOCKS5; the connection is used up by it. One for
// whom there is no place is told so in answer to its request, as of all answers only
// that to a request can say it.
func (c *client) socks() {
	within := c.front.Settings.HeaderTimeout
	if c.refused != nil {
		within = min(within, writeTimeout)
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(within))
	r := newRequest("socks5")
	refused, ok := c.greet(r)
	if !ok {
		return
	}
	refused = cmp.Or(c.refused, refused)
	asked, err := socks.ReadRequest(c.br)
	if err != nil {
		c.refuseSOCKS(r, err)
		return
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	if refused == nil && asked.Command != socks.Connect {
		refused = reply.BadRequest(501, "only CONNECT is served to SOCKS clients, neither BIND nor UDP")
	}
	if refused == nil {
		refused = c.countFor(r)
	}
	target := asked.HostPort()
	if refused == nil {
		target, refused = connectTarget(target)
	}
	if refused == nil {
		refused = c.check(target)
	}
	if refused != nil {
		r.target = printable(asked.HostPort())
		c.refuse(r, refused)
		return
	}
	r.target = target
	c.tunnel(r, socksAnswers{})
}

// greet finds out who the client is. It is false when the conversation is over.
// A refusal beside true is for the answer to the request: the protocol has no
// place for it before.
func (c *client) greet(r *request) (refused *reply.Error, ok bool) {
	offer, err := socks.ReadOffer(c.br)
	switch {
	case err != nil:
		c.refuseSOCKS(r, err)
		return nil, false
	case offer.Password: // also when nobody has to: routing keys are in the user name
		return c.askPassword(r)
	case offer.NoAuth && !c.front.Guard.Required():
		_, err := c.conn.Write(socks.AppendMethod(nil, socks.NoAuth))
		return nil, err == nil
	}
	c.tellRefusal(r, reply.AuthRequired(wantPassword), socks.AppendMethod(nil, socks.NoMethod))
	return nil, false
}

func (c *client) askPassword(r *request) (refused *reply.Error, ok bool) {
	if _, err := c.conn.Write(socks.AppendMethod(nil, socks.Password)); err != nil {
		return nil, false
	}
	user, password, err := socks.ReadPassword(c.br)
	if err != nil {
		c.refuseSOCKS(r, err)
		return nil, false
	}
	if c.refused == nil { // else nothing is served, and no password worth its work
		var who caller
		who, refused = c.front.authenticate(user, password)
		r.caller = who.kept()
	}
	if refused != nil && refused.Code != "bad_routing_key" {
		c.tellRefusal(r, refused, socks.AppendVerdict(nil, false))
		return nil, false
	}
	_, err = c.conn.Write(socks.AppendVerdict(nil, true))
	return refused, err == nil
}

// refuseSOCKS answers what could not be read. Who has left gets no answer.
func (c *client) refuseSOCKS(r *request, err error) {
	var timeout net.Error
	switch {
	case errors.Is(err, socks.ErrVersion):
		c.tellRefusal(r, reply.BadRequest(400, "this is not SOCKS5 as RFC 1928 has it"), socks.AppendReply(nil, socks.GeneralFailure))
	case errors.Is(err, socks.ErrAddress):
		c.refuse(r, reply.BadRequest(400, "the kind of the target's address is unknown"))
	case errors.As(err, &timeout) && timeout.Timeout():
		c.refuse(r, reply.BadRequest(408, "the SOCKS request did not arrive in time"))
	}
}

// socksAnswers answers a SOCKS5 request.
type socksAnswers struct{}

// Opened implements tunnel.Answers.
func (socksAnswers) Opened(dst []byte, _ *pool.Lease) []byte {
	return socks.AppendReply(dst, socks.Succeeded)
}

// Refused implements tunnel.Answers. The log says what eight numbers cannot.
func (socksAnswers) Refused(dst []byte, _ string, e *reply.Error) []byte {
	return socks.AppendReply(dst, socksReply(e))
}

func socksReply(e *reply.Error) socks.Reply {
	switch e.Code {
	case "target_denied", "loop", "bad_routing_key":
		return socks.NotAllowed
	case "no_proxy":
		return socks.NetworkUnreachable
	case "target_down":
		return socks.HostUnreachable
	case "timeout":
		return socks.TTLExpired
	case "bad_request":
		switch e.Status {
		case 400:
			return socks.AddressNotSupported
		case 501:
			return socks.CommandNotSupported
		}
	}
	return socks.GeneralFailure
}
