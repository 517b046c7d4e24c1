package lifetime

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestContextIsOneOfTheStandardLibrary(t *testing.T) {
	var c Context
	child, cancel := context.WithTimeout(&c, time.Hour)
	defer cancel()
	if c.Err() != nil || child.Err() != nil {
		t.Fatal("it has ended already")
	}
	before := c.Done()
	c.Cancel()
	c.Cancel()
	<-before
	<-c.Done()
	<-child.Done()
	if c.Err() != context.Canceled || child.Err() != context.Canceled {
		t.Errorf("errors %v and %v, want context.Canceled", c.Err(), child.Err())
	}
	var unwatched Context
	unwatched.Cancel()
	<-unwatched.Done()
}

// TestAfterFuncIsThatOfTheStandardLibrary plays the same course with both.
func TestAfterFuncIsThatOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 30).Draw(t, "steps")
		var mine Context
		theirs, cancel := context.WithCancel(context.Background())
		defer cancel()
		got := play(steps, &mine, mine.Cancel)
		want := play(steps, theirs, cancel)
		if got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// outcome is what became of the functions: one bit each.
type outcome struct{ stopped, called int64 }

func play(steps []int, ctx context.Context, cancel func()) (o outcome) {
	var called atomic.Int64
	var running sync.WaitGroup
	var hooks []Hook
	for _, s := range steps {
		switch n := len(hooks); {
		case s == 9:
			cancel()
		case s < 5 || n == 0:
			running.Add(1)
			hooks = append(hooks, AfterFunc(ctx, func() { defer running.Done(); called.Or(1 << n) }))
		case hooks[(s*7)%n].Stop():
			o.stopped |= 1 << ((s * 7) % n)
			running.Done()
		}
	}
	for n, hook := range hooks {
		if hook.Stop() {
			o.stopped |= 1 << n
			running.Done()
		}
	}
	running.Wait()
	o.called = called.Load()
	return o
}

func TestEndAndStopAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 500 {
			var c Context
			var called atomic.Int32
			var stopped atomic.Int32
			for range 4 {
				hook := AfterFunc(&c, func() { called.Add(1) })
				go func() {
					if hook.Stop() {
						stopped.Add(1)
					}
				}()
			}
			go c.Cancel()
			synctest.Wait()
			if called.Load()+stopped.Load() != 4 {
				t.Fatalf("%d called and %d stopped of 4", called.Load(), stopped.Load())
			}
		}
	})
}

func BenchmarkAfterFunc(b *testing.B) {
	b.ReportAllocs()
	f := func() {}
	for b.Loop() {
		var c Context
		AfterFunc(&c, f).Stop()
	}
}
