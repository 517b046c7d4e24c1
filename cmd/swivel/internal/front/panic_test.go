package front

import (
	"strings"
	"testing"
)

func TestBugInOneConnectionLeavesTheOthersAlone(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	r.front.Forward = nil // stands for any bug
	other := r.connect(target)
	for range 3 {
		c := r.dial()
		c.send("GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n")
		c.expectEnd()
	}
	other.send("still there")
	other.expect("still there")
	eventually(t, "the others are forgotten", func() bool { return r.front.Connections() == 1 })
	if n := strings.Count(r.log.String(), `"stack":`); n != 3 {
		t.Errorf("the log tells of %d bugs", n)
	}
	r.connect(target)
}
