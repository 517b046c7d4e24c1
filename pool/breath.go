package pool

import (
	"io"
	goruntime "runtime"
	"time"
)

// Lists may be a hundred thousand lines long and come anew while clients are
// served. Nothing that is done for each line of one may therefore hold up others
// for long: not the processor, nor by large pieces of memory, which nothing can
// interrupt while they are moved.

// breath is the pace of work over the whole of a list: how often it lets others
// go first.
type breath struct{ slept time.Time }

// atOnce only lets those go first who are known to wait: a time slice of the
// scheduler is ten milliseconds.
var atOnce *breath

// beside returns the pace of work beside clients, which sleeps. To yield is not
// enough there: a thread that never sleeps learns of clients' bytes late, and
// keeps the system from running the clients themselves.
func beside() *breath { return &breath{slept: time.Now()} }

// Work beside clients takes a fifth of a processor, or less. The p99 of 200 tunnels
// a second beside reloads of 100,000 lines was 10 ms when these yielded only, 7 ms
// with half of a processor, and 3 to 6 ms like this; 2 ms without reloads.
const (
	atWork = 250 * time.Microsecond
	asleep = time.Millisecond
)

// take is called in each round of a loop; i counts them.
func (b *breath) take(i int) {
	if i%64 == 63 {
		b.rest()
	}
}

func (b *breath) rest() {
	if b == atOnce || time.Since(b.slept) < atWork {
		goruntime.Gosched()
		return
	}
	time.Sleep(asleep)
	b.slept = time.Now()
}

// Gently returns a reader of what r has, for ParseList beside clients: reading
// it waits now and then, so that reading a long list leaves most of a processor
// to them. 100,000 lines take some 0.3 s longer.
func Gently(r io.Reader) io.Reader { return gentle{r, beside()} }

type gentle struct {
	r io.Reader
	b *breath
}

// Read implements io.Reader, for some hundred lines at a time.
func (g gentle) Read(p []byte) (int, error) {
	g.b.rest()
	return g.r.Read(p[:min(len(p), 8<<10)])
}
