package auth

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func newGuard(t testing.TB, entries ...string) *Guard {
	t.Helper()
	u, err := Read(entries, "")
	if err != nil {
		t.Fatal(err)
	}
	return NewGuard(u)
}

// costly is a user whose check takes as long as in earnest.
func costly(t testing.TB, name, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + string(hash)
}

func TestNobodyIsAskedWithoutUsers(t *testing.T) {
	if newGuard(t).Required() {
		t.Error("a password is required, but there is none that would do")
	}
	g := newGuard(t, entry(t, "alice", "a"))
	if !g.Required() {
		t.Error("a user, and still nobody is asked")
	}
}

// A hundred connections opened at once by one client: each of them waiting for
// a check of its own would make the last wait for seconds.
func TestConnectionsOpenedTogetherCostOneCheck(t *testing.T) {
	g := newGuard(t, costly(t, "alice", "a"))
	start := time.Now()
	if err := g.Check("alice", "guess"); !errors.Is(err, ErrWrong) {
		t.Fatal(err)
	}
	one := time.Since(start)
	g.slots = make(chan struct{}, 1)
	g.slots <- struct{}{} // nobody gets on until all wait
	var waiting sync.WaitGroup
	began := make(chan struct{}, 100)
	for range 100 {
		waiting.Go(func() {
			began <- struct{}{}
			if err := g.Check("alice", "a"); err != nil {
				t.Error(err)
			}
		})
	}
	for range 100 {
		<-began
	}
	start = time.Now()
	<-g.slots
	waiting.Wait()
	// Those that came too late for the first check found it remembered.
	if took := time.Since(start); took > 30*one {
		t.Errorf("took %v, and one check %v", took, one)
	}
}

func TestGuessesWaitForTheirTurnAndThenAreSentAway(t *testing.T) {
	g := newGuard(t, entry(t, "alice", "a"))
	if err := g.Check("alice", "a"); err != nil {
		t.Fatal(err)
	}
	for range cap(g.slots) {
		g.slots <- struct{}{} // as many checks under way as there may be
	}
	g.wait = time.Millisecond
	if err := g.Check("alice", "guess"); !errors.Is(err, ErrBusy) {
		t.Errorf("a guess: %v", err)
	}
	if err := g.Check("alice", "a"); err != nil {
		t.Errorf("a password that was checked before: %v", err)
	}
	<-g.slots
	g.wait = time.Minute
	if err := g.Check("alice", "guess"); !errors.Is(err, ErrWrong) {
		t.Errorf("the same guess later: %v", err)
	}
}

func TestAChangedPasswordCountsAtOnce(t *testing.T) {
	g := newGuard(t, entry(t, "alice", "old"), entry(t, "bob", "b"))
	if g.Check("alice", "old") != nil || g.Check("alice", "new") == nil || g.Check("bob", "b") != nil {
		t.Fatal("the first users do not hold")
	}
	u, err := Read([]string{entry(t, "alice", "new")}, "")
	if err != nil {
		t.Fatal(err)
	}
	g.Replace(u)
	if g.Check("alice", "old") == nil || g.Check("alice", "new") != nil || g.Check("bob", "b") == nil {
		t.Error("what was remembered outlived the users")
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	g := newGuard(t, entry(t, "alice", "a"))
	s := g.state.Load()
	for i := range 3 * maxRemembered {
		s.remember(g.digest("alice", strconv.Itoa(i)), ErrWrong)
	}
	s.remember(g.digest("alice", "a"), nil)
	if len(s.wrong) > maxRemembered || len(s.right) != 1 {
		t.Errorf("%d wrong and %d right ones are kept", len(s.wrong), len(s.right))
	}
}

func TestNameAndPasswordCannotBeShifted(t *testing.T) {
	g := newGuard(t, entry(t, "alice", "bob"))
	if g.digest("alice", "bob") == g.digest("ali", "cebob") || g.digest("a\x00", "b") == g.digest("a", "\x00b") {
		t.Error("two pairs have one digest")
	}
}

// A wrong name that is answered sooner than a wrong password tells which names
// exist.
func TestAnUnknownUserCostsAsMuchAsAWrongPassword(t *testing.T) {
	g := newGuard(t, entry(t, "quick", "q"), costly(t, "alice", "a"))
	least := map[string]time.Duration{"alice": time.Hour, "nobody": time.Hour}
	for i := range 5 { // in turns, so that what else the machine does meets both
		for name, before := range least {
			start := time.Now()
			_ = g.Check(name, strings.Repeat("x", i+1))
			least[name] = min(before, time.Since(start))
		}
	}
	// Without the decoy the one is ten thousand times the other.
	if known, unknown := least["alice"], least["nobody"]; unknown < known/4 || unknown > known*4 {
		t.Errorf("a wrong password takes %v, an unknown user %v", known, unknown)
	}
}

func BenchmarkCheckRemembered(b *testing.B) {
	g := newGuard(b, entry(b, "alice", "a"))
	for b.Loop() {
		if err := g.Check("alice", "a"); err != nil {
			b.Fatal(err)
		}
	}
}
