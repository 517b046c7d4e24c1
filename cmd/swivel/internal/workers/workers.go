// Package workers runs functions on goroutines that have run others before.
//
// A new goroutine begins with a stack of 2 KiB. What opens a tunnel needs four
// times that, and grows into it step by step, copying the stack each time. A
// goroutine that is used again has its stack already; and what then waits for
// long, as a tunnel does, can go on on a new one, whose stack stays small.
//
//	var pool workers.Pool
//	pool.Go(serve) // as go serve()
package workers

import "sync"

// idleMax bounds the goroutines that are kept for later, which hold some 8 KiB
// each.
const idleMax = 256

// Pool keeps goroutines to use them again. The zero value is ready for use, and
// nil is a Pool that keeps none. It is safe for concurrent use.
type Pool struct {
	mu     sync.Mutex
	idle   []*worker // a stack: who was busy last is still in the cache
	closed bool
}

// Go runs f on a goroutine of its own, as the go statement does. What f panics
// with ends the process, likewise.
func (p *Pool) Go(f func()) {
	if p == nil {
		go f()
		return
	}
	if w := p.take(); w != nil {
		w.next <- f
		return
	}
	w := &worker{pool: p, next: make(chan func(), 1)}
	go w.run(f)
}

// Close ends the goroutines that wait to be used again, and has the others end
// with what they do. Go works after it as the go statement.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		close(w.next)
	}
	p.idle = nil
}

type worker struct {
	pool *Pool
	next chan func()
}

func (w *worker) run(f func()) {
	for more := true; more; f, more = <-w.next {
		f()
		if !w.pool.put(w) {
			return
		}
	}
}

func (p *Pool) take() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return w
}

func (p *Pool) put(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= idleMax {
		return false
	}
	p.idle = append(p.idle, w)
	return true
}
