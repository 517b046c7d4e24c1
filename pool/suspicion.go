package pool

import "time"

// verdictWithin is how long a suspicion waits for somebody to reach the target.
const verdictWithin = 10 * time.Second

// waitingMax bounds the suspicions that wait. Beyond it the oldest lapse early, when
// the next exchange begins.
const waitingMax = 1 << 14

// suspicion is an attempt that ended in doubt and whose exchange is over.
type suspicion struct {
	proxy   *Proxy
	permit  permits
	target  targetKey
	event   Event // to report with the verdict
	at      time.Time
	settled bool
}

// suspicions wait in the order they arose, so that those whose time is up are
// in front, in the queue as in the list of each target. They are guarded by
// Pool.blameMu.
type suspicions struct {
	queue []*suspicion
	by    map[targetKey][]*suspicion
}

func (s *suspicions) add(one *suspicion) {
	s.queue = append(s.queue, one)
	s.by[one.target] = append(s.by[one.target], one)
}

func (s *suspicions) tooMany() bool { return len(s.queue) > waitingMax }

// due takes those out of the queue whose time is up, or that are too many.
func (s *suspicions) due(now time.Time) (due []*suspicion) {
	for len(s.queue) > 0 {
		one := s.queue[0]
		if !one.settled && now.Sub(one.at) < verdictWithin && !s.tooMany() {
			break
		}
		s.queue[0] = nil
		s.queue = s.queue[1:]
		if !one.settled {
			one.settled = true
			s.dropFirst(one.target)
			due = append(due, one)
		}
	}
	return due
}

// next is when due will have something again; far ahead when nothing waits.
func (s *suspicions) next(now time.Time) time.Time {
	if len(s.queue) == 0 {
		return now.Add(verdictWithin)
	}
	return s.queue[0].at.Add(verdictWithin)
}

// dropFirst takes the oldest one out of its target's list.
func (s *suspicions) dropFirst(k targetKey) {
	if left := s.by[k][1:]; len(left) > 0 {
		s.by[k] = left
	} else {
		delete(s.by, k)
	}
}

// take settles all that concern the target and hands them out.
func (s *suspicions) take(k targetKey) []*suspicion {
	taken := s.by[k]
	for _, one := range taken {
		one.settled = true
	}
	delete(s.by, k)
	return taken
}
