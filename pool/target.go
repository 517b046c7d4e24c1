package pool

import "time"

// culprits is how many credible proxies have to fail on a target that is then
// held to be down itself.
const culprits = 3

// sampled is how many attempts on a target make its own failure rate known.
const sampled = 20

// target is the record of a target that some attempt could not reach. It is
// guarded by Pool.blameMu.
type target struct {
	key         targetKey
	lastTrouble time.Time

	// Attempts since the record began, and how many of them failed, whoever
	// made them: a target that drops some connections itself shows here.
	tried, failed int

	// suspects are the credible proxies that failed on it since it was last
	// reached, up to the number that makes the target the culprit.
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
	t.suspects = t.suspects[:0]
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
	t.tried++
	if failed {
		t.failed++
	}
	r.samples.note(t.key, failed)
}

// convicts says whether a proxy that could not reach the target, which others
// reach, has failed. Once the target's own rate is known that takes a proxy
// which fails on it at least twice as often as the others together: a target
// that resets four of ten connections must not ban good proxies. One attempt
// that succeeds is counted in the proxy's favour beside those there were, since
// one failure of one attempt is not a rate.
func (t *target) convicts(r *runtime) bool {
	own := r.samples.find(t.key)
	if own == nil || t.tried < sampled {
		return true
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
}

// samples are a proxy's for the targets it last had trouble with. Few are
// enough: the question they answer comes up when much goes to one target.
type samples [4]sample

// note counts an attempt; a target that is new replaces the one with the
// fewest attempts.
func (s *samples) note(k targetKey, failed bool) {
	at := s.find(k)
	if at == nil {
		at = s.fewest()
		*at = sample{target: k}
	}
	if at.tried == 1<<15 { // halve, so that the past fades
		at.tried, at.failed = at.tried/2, at.failed/2
	}
	at.tried++
	if failed {
		at.failed++
	}
}

func (s *samples) fewest() *sample {
	at := &s[0]
	for i := range s {
		if s[i].tried < at.tried {
			at = &s[i]
		}
	}
	return at
}

func (s *samples) find(k targetKey) *sample {
	for i := range s {
		if s[i].tried > 0 && s[i].target == k {
			return &s[i]
		}
	}
	return nil
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
