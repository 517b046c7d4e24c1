package attempts

import (
	"slices"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
)

// spent is the answer when nobody is left to try; outOfTime says that attempts
// are still on the way.
func (x *Exchange) spent(outOfTime bool) *reply.Error {
	tried := x.pool.Attempts()
	if keys, unmatched := x.pool.Unmatched(); unmatched {
		return reply.NoMatch(keys)
	}
	if len(tried) == 0 {
		return x.nobody()
	}
	signals := make([]pool.Signal, len(tried))
	timeouts := 0
	for i, a := range tried {
		signals[i] = a.Signal
		if outOfTime && a.Signal == pool.NoSignal {
			signals[i] = pool.HandshakeTimeout
		}
		if signals[i].Timeout() {
			timeouts++
		}
	}
	switch {
	case timeouts == len(tried):
		return reply.Timeout(len(tried))
	case allAre(signals, pool.LocalFault):
		return reply.LocalFault()
	case allAre(signals, pool.HandshakeLoop):
		return leadsBack()
	}
	spent := reply.AttemptsSpent(signals)
	spent.RetryAfter = x.pool.RetryAfter(time.Now()) // 0 while somebody can be tried
	return spent
}

func allAre(signals []pool.Signal, s pool.Signal) bool {
	return !slices.ContainsFunc(signals, func(one pool.Signal) bool { return one != s })
}

func leadsBack() *reply.Error {
	return reply.Loop("the proxies lead back here: a list holds a proxy that asks this one")
}

// nobody is the answer when there was nobody to try.
func (x *Exchange) nobody() *reply.Error {
	now := time.Now()
	wait := x.pool.RetryAfter(now)
	switch {
	case x.pool.KeptAway(now):
		return reply.KeptAway(wait)
	case x.pool.AtHome():
		return reply.NotItsProxy(wait)
	case x.pool.Constrained():
		return reply.NoneOfKind(wait)
	}
	return reply.NoProxy(wait)
}
