package pool

import (
	"math"
	"time"
)

// culprits is how many credible proxies have to fail on a target that is then
// held to be down itself.
const culprits = 3

// sampled is how many attempts on a target make its own failure rate known.
const sampled = 20

// fadeAt is at how many attempts the counts of a target are halved.
const fadeAt = 1000

// target is the record of a target that some attempt could not reach. It is
// guarded by Pool.blameMu.
type target struct {
	key         targetKey
	name        string
	lastTrouble time.Time

	// Attempts since the record began, and how many of them failed, whoever
	// made them: a target that drops some connections itself shows here.
	tried, failed int
	halvings      uint8 // of these counts, so that the past fades

	// What happened since it was last reached: failures, whoever's, and the
	// credible proxies among those who failed.
	row      int
	suspects []*runtime

	// A target that is down rests too: until then nobody asks for it, and then
	// one exchange does.
	downUntil time.Time
	rest      time.Duration // of the current rest; 0: not known to be down

	bans []ban
}

func (t *target) down() bool { return t.rest > 0 }

// reached forgets all that was held against the target but its rate.
func (t *target) reached() {
	t.row, t.suspects = 0, t.suspects[:0]
	t.downUntil, t.rest = time.Time{}, 0
}

// suspect adds a proxy that failed on it.
func (t *target) suspect(r *runtime) {
	for _, known := range t.suspects {
		if known == r {
			return
		}
	}
	if len(t.suspects) < culprits {
		t.suspects = append(t.suspects, r)
	}
}

// isDown says whether the target itself must be at fault: enough credible
// proxies could not reach it, and of a target that is known to drop some
// connections so many failures in a row would come once in a thousand times.
//
// A pool of one or two can bring up no three witnesses. Then it takes three
// failures in a row on a target that was not reached a moment ago: a gateway
// that fails now and then must not close a target that it reaches all the time.
func (t *target) isDown(candidates int, reached bool) bool {
	if len(t.suspects) < min(culprits, candidates) {
		return false
	}
	if candidates < culprits && (reached || t.row < culprits) {
		return false
	}
	return t.tried < sampled || float64(t.row) >= math.Log(0.001)/math.Log(t.rate())
}

// rate is the share of failures before the present row of them.
func (t *target) rate() float64 {
	return float64(t.failed-t.row+1) / float64(t.tried-t.row+2)
}

// takeDown begins the first rest, or the next, longer one.
func (t *target) takeDown(first, most time.Duration, now time.Time) {
	if t.rest == 0 {
		t.rest = first
	} else {
		t.rest = min(2*t.rest, most)
	}
	t.downUntil = now.Add(t.rest)
}

// note counts an attempt of a proxy on the target.
func (t *target) note(r *runtime, failed bool) {
	if t.tried == fadeAt {
		t.tried, t.failed = t.tried/2, t.failed/2
		t.row = min(t.row, t.failed)
		t.halvings++
	}
	t.tried++
	own := r.charge().samples.of(t)
	own.tried++
	if failed {
		t.failed++
		t.row++
		own.failed++
	}
}

// convicts says whether a proxy that could not reach the target, which others
// reach, has failed. Once the target's own rate is known that takes a proxy
// which fails on it at least twice as often as the others together: a target
// that resets four of ten connections must not ban good proxies. One attempt
// that succeeds is counted in the proxy's favour beside those there were, since
// one failure of one attempt is not a rate.
func (t *target) convicts(r *runtime) bool {
	if t.tried < sampled {
		return true
	}
	own := r.charge().samples.of(t)
	if own.tried == 0 { // forgotten by now: this failure is all that is known
		own.tried, own.failed = 1, 1
	}
	tried, failed := t.tried-int(own.tried), t.failed-int(own.failed)
	if tried <= 0 {
		return true
	}
	others := float64(max(failed, 0)) / float64(tried)
	return float64(own.failed)/float64(own.tried+1) >= 2*others
}

// sample is how one proxy did on one target.
type sample struct {
	target        targetKey
	tried, failed uint16
	halvings      uint8 // that the counts have been through
}

// samples are a proxy's for the targets it last had trouble with. Few are
// enough: the question they answer comes up when much goes to one target.
type samples [4]sample

// of returns the proxy's counts for the target, halved as often as the target's
// own were. A target that is new takes the place of the one with the fewest
// attempts.
func (s *samples) of(t *target) *sample {
	at := &s[0]
	for i := range s {
		if s[i].tried > 0 && s[i].target == t.key {
			at = &s[i]
			break
		}
		if s[i].tried < at.tried {
			at = &s[i]
		}
	}
	if at.target != t.key {
		*at = sample{target: t.key, halvings: t.halvings}
	}
	missed := t.halvings - at.halvings
	at.tried, at.failed, at.halvings = at.tried>>missed, at.failed>>missed, t.halvings
	return at
}

// targetSet is up to three different targets: that many are a pattern.
type targetSet struct {
	keys [3]targetKey
	n    int
}

// add puts a target into the set and says whether the set is full now.
func (s *targetSet) add(k targetKey) (full bool) {
	for _, known := range s.keys[:s.n] {
		if known == k {
			return s.full()
		}
	}
	if !s.full() {
		s.keys[s.n] = k
		s.n++
	}
	return s.full()
}

func (s *targetSet) full() bool { return s.n == len(s.keys) }

// onlyHas says whether the set holds nothing but k, if anything.
func (s *targetSet) onlyHas(k targetKey) bool {
	return s.n == 0 || s.n == 1 && s.keys[0] == k
}
