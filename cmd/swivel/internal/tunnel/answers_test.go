package tunnel

import (
	"errors"
	"os"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream"
)

// A client that reads nothing must not hold a proxy with that before its tunnel
// has begun.
func TestAnswerThatIsNotReadIsGivenUp(t *testing.T) {
	_, conn := tcpPair(t)
	began := time.Now()
	err := hello(conn, &upstream.Conn{Early: make([]byte, 64<<20)}, nil, plainAnswers{}) // more than any buffer takes
	if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > 2*answerTimeout {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// plainAnswers need no lease.
type plainAnswers struct{ HTTP }

func (plainAnswers) Opened(dst []byte, _ *pool.Lease) []byte {
	return append(dst, "HTTP/1.1 200 OK\r\n\r\n"...)
}
