package attempts

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAProcessThatWasHeldUpLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatience(time.Second, time.Hour)
		<-p.timer.C
		if p.heldUp() {
			t.Error("a timer that is in time is taken for a late one")
		}
		p.begin(time.Second)
		time.Sleep(time.Second + heldUpBy) // nobody reads from the channel meanwhile
		<-p.timer.C
		began := time.Now()
		if !p.heldUp() {
			t.Fatal("a timer that is late says that time is up")
		}
		<-p.timer.C
		if p.heldUp() || time.Since(began) != secondLook {
			t.Errorf("it looked again after %v", time.Since(began))
		}
	})
}

func TestASlowMachineDoesNotPutItOffForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatience(time.Second, time.Hour)
		looks := 0
		for time.Sleep(2 * time.Second); p.heldUp(); time.Sleep(time.Second) {
			<-p.timer.C
			if looks++; looks > secondLooks {
				t.Fatal("it is put off for ever")
			}
		}
		if looks != secondLooks {
			t.Errorf("%d second looks, want %d", looks, secondLooks)
		}
		p.timer.Stop()
	})
}

func TestTheTimeOfAllAttemptsEndsBesideThatOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := newPatience(2*time.Second, 3*time.Second)
		for _, want := range []struct {
			after time.Duration
			ended bool
		}{{2 * time.Second, false}, {3 * time.Second, true}, {4 * time.Second, false}, {6 * time.Second, false}} {
			<-p.timer.C
			if ended := p.ended(); time.Since(began) != want.after || ended != want.ended {
				t.Fatalf("after %v it says %v, want %v after %v", time.Since(began), ended, want.ended, want.after)
			}
			if !want.ended {
				p.begin(2 * time.Second)
			}
		}
		p.timer.Stop()
	})
}
