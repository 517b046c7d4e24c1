package workers

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestEveryFunctionRunsOnce(t *testing.T) {
	var p Pool
	defer p.Close()
	var ran [5000]int
	var all sync.WaitGroup
	for i := range ran {
		all.Add(1)
		p.Go(func() {
			defer all.Done()
			ran[i]++
		})
	}
	all.Wait()
	for i, n := range ran {
		if n != 1 {
			t.Fatalf("function %d ran %d times", i, n)
		}
	}
}

func TestGoroutinesAreUsedAgainAndBounded(t *testing.T) {
	var p Pool
	before := runtime.NumGoroutine()
	hold := make(chan struct{})
	for range 2 * idleMax {
		p.Go(func() { <-hold })
	}
	close(hold)
	wait(t, "the goroutines beyond the bound end", func() bool { return runtime.NumGoroutine() <= before+idleMax })
	done := make(chan struct{})
	p.Go(func() { close(done) })
	<-done
	if n := runtime.NumGoroutine(); n > before+idleMax {
		t.Errorf("%d goroutines beside the %d there were: one was made although others wait", n-before, before)
	}
	p.Close()
	wait(t, "the idle ones end", func() bool { return runtime.NumGoroutine() <= before })
	again := make(chan struct{})
	p.Go(func() { close(again) })
	<-again
	wait(t, "nobody is kept behind Close", func() bool { return runtime.NumGoroutine() <= before })
}

func TestWhatIsStartedFromWithinRuns(t *testing.T) {
	for _, p := range []*Pool{nil, new(Pool)} {
		done := make(chan struct{})
		p.Go(func() { p.Go(func() { p.Go(func() { close(done) }) }) })
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("it never ran")
		}
		if p != nil {
			p.Close()
		}
	}
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("never came true: %s", what)
		}
	}
}

// BenchmarkGo compares with the go statement for a function that needs stack.
func BenchmarkGo(b *testing.B) {
	for name, p := range map[string]*Pool{"reused": new(Pool), "new": nil} {
		b.Run(name, func(b *testing.B) {
			done := make(chan struct{})
			for b.Loop() {
				p.Go(func() { deep(40); done <- struct{}{} })
				<-done
			}
		})
	}
}

// deep takes some 200 bytes of stack for each of n calls.
//
//go:noinline
func deep(n int) (sum int) {
	var room [20]int
	if n > 0 {
		room[n%20] = deep(n - 1)
	}
	return room[0] + room[19]
}
