package tunnel

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream"
)

// A client that has read nothing of what it was sent before has no room left for
// the answer to its CONNECT, and must not hold a proxy with that.
func TestAnswerThatIsNotReadIsGivenUp(t *testing.T) {
	_, conn := tcpPair(t)
	fill(conn)
	began := time.Now()
	err := hello(conn, &upstream.Conn{}, nil, plainAnswers{})
	if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > 2*answerTimeout {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// fill writes until not a byte more fits in, for a while.
func fill(conn *net.TCPConn) {
	for _, size := range []int{1 << 20, 1, 1} {
		_ = conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		for text, err := make([]byte, size), error(nil); err == nil; {
			_, err = conn.Write(text)
		}
	}
	_ = conn.SetWriteDeadline(time.Time{})
}

// plainAnswers need no lease.
type plainAnswers struct{ HTTP }

func (plainAnswers) Opened(dst []byte, _ *pool.Lease) []byte {
	return append(dst, "HTTP/1.1 200 OK\r\n\r\n"...)
}
