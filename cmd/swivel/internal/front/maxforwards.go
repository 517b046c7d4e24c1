package front

import (
	"strconv"
	"strings"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool/upstream/http1"
)

// ends counts the request as forwarded once where it says how often it may be
// (RFC 9110 section 7.6.2): an OPTIONS, since a TRACE is never passed on. True: it
// is to be answered here. A value that is no number means nothing, and is left as
// it is.
func ends(r *http1.Request) bool {
	if r.Method != "OPTIONS" || r.Fields.Count("Max-Forwards") != 1 {
		return false
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		if !strings.EqualFold(f.Name, "Max-Forwards") || f.Value == "" || strings.Trim(f.Value, "0123456789") != "" {
			continue
		}
		n, _ := strconv.ParseUint(f.Value, 10, 64) // the largest there is, if it is larger
		if n == 0 {
			return true
		}
		f.Value = strconv.FormatUint(n-1, 10)
	}
	return false
}

// options answers an OPTIONS that may not be forwarded; true if another request
// may follow.
func (c *client) options(r *request) (again bool) {
	length, again := c.skippable(r)
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := c.conn.Write(reply.AppendOptions(nil, r.id, !again))
	line := c.line(r, 200, "")
	c.front.report(&line)
	return err == nil && again && c.skip(length)
}
