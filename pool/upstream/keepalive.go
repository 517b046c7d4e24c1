package upstream

import (
	"net"
	"time"
)

// keepAliveIdle is how long a connection is silent before the kernel probes
// its peer: below the minutes after which NATs forget a flow, high enough that
// ten thousand idle tunnels cost 170 probes a second.
const keepAliveIdle = time.Minute

// KeepAlive has the kernel probe the peer of a connection that is silent, so that
// one which has vanished does not hold it for ever. A Dialer does not do that
// itself: it takes system calls, which a tunnel that is over in a second is spared.
//
// Interval and count stay the kernel's: Go's defaults set all three, two more
// system calls per connection to find a dead peer some minutes earlier.
func KeepAlive(c net.Conn) {
	if tcp, ok := bare(c).(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: -1, Count: -1})
	}
}
