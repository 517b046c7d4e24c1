package upstream

import (
	"net"
	"time"

	"swivel/pool/upstream/tcp"
)

// keepAliveIdle is how long a connection is silent before the kernel probes
// its peer: below the minutes after which NATs forget a flow, high enough that
// ten thousand idle tunnels cost 170 probes a second.
const keepAliveIdle = time.Minute

// KeepAlive has the kernel probe the peer of a connection that is silent, so that
// one which has vanished does not hold it for ever. A Dialer does not do that
// itself: it takes system calls, which a tunnel that is over in a second is spared.
func KeepAlive(c net.Conn) { tcp.KeepAlive(c, keepAliveIdle) }
