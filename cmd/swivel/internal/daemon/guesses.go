package daemon

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// guesses are wrong tokens that the admin API was shown. They are logged now and
// then: whoever guesses must not fill a disk. The zero value has none.
type guesses struct {
	count atomic.Int64 // since the start
	tell  rate.Sometimes
}

// guessesEvery is how often guesses are logged, at most.
const guessesEvery = time.Minute

// WrongToken takes note of one.
func (d *Daemon) WrongToken(address string) {
	n := d.guesses.count.Add(1)
	d.guesses.tell.Do(func() {
		d.log.Warn().Str("client", address).Int64("times", n).Msg("the admin API was shown a wrong token")
	})
}
