package feed

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestListenersGetWhatTheyMissedAndWhatComes(t *testing.T) {
	f := New(epoch)
	f.Publish(Event{Kind: Reload, Reason: "a"})
	f.Publish(Event{Kind: Reload, Reason: "b"})
	missed, first, ok := f.Listen(0)
	if !ok || len(missed) != 2 || missed[0].Reason != "a" || missed[1].ID != missed[0].ID+1 {
		t.Fatalf("%+v", missed)
	}
	later, second, _ := f.Listen(missed[0].ID)
	if len(later) != 1 || later[0].Reason != "b" {
		t.Errorf("%+v", later)
	}
	f.Publish(Event{Kind: Reload, Reason: "c"})
	for _, l := range []*Listener{first, second} {
		if e := <-l.Events(); e.Reason != "c" || e.ID != missed[1].ID+1 {
			t.Errorf("%+v", e)
		}
	}
	f.Leave(first)
	f.Leave(first)
	if _, open := <-first.Events(); open {
		t.Error("it goes on after it has left")
	}
	if missed, _, _ := New(epoch.Add(-time.Hour)).Listen(missed[0].ID); len(missed) != 0 {
		t.Errorf("%+v", missed)
	}
	again := New(epoch.Add(-time.Hour)) // the clock was set back
	again.Publish(Event{})
	if missed, _, _ := again.Listen(later[0].ID); len(missed) != 1 {
		t.Errorf("an earlier life's id hides what is new: %+v", missed)
	}
}

func TestSlowListenersAreDroppedAndNobodyWaits(t *testing.T) {
	f := New(epoch)
	_, slow, _ := f.Listen(0)
	_, quick, _ := f.Listen(0)
	var reading sync.WaitGroup
	got := 0
	reading.Go(func() {
		for range quick.Events() {
			got++
		}
	})
	for i := range backlog + 1 {
		f.Publish(Event{Reason: strconv.Itoa(i)})
		for len(quick.events) > backlog/2 { // it keeps up
			runtime.Gosched()
		}
	}
	f.Leave(quick)
	reading.Wait()
	if got != backlog+1 {
		t.Errorf("the quick one got %d", got)
	}
	n := 0
	for range slow.Events() { // ends
		n++
	}
	if missed, _, _ := f.Listen(0); n != backlog || len(missed) != remembered || missed[remembered-1].Reason != strconv.Itoa(backlog) {
		t.Errorf("the slow one got %d; %d are remembered", n, len(missed))
	}
}

func TestListenersAreBounded(t *testing.T) {
	f := New(epoch)
	var last *Listener
	for range maxListeners {
		_, l, ok := f.Listen(0)
		if !ok {
			t.Fatal("refused")
		}
		last = l
	}
	if _, _, ok := f.Listen(0); ok {
		t.Error("one more is taken")
	}
	f.Leave(last)
	if _, _, ok := f.Listen(0); !ok {
		t.Error("a place that was left is not given again")
	}
	var none *Feed
	none.Publish(Event{})
}
