package canary

import "time"

// reached notes that the canary is up.
func (c *Canary) reached() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.doubtful == doubtfulTests {
		c.loop.Pool.TestApart(true)
		c.log.Info().Str("target", c.target).Msg("the canary is reached again: clients' requests test no proxies any more")
	}
	c.reachedAt, c.doubtful, c.pause = time.Now(), 0, 0
}

// doubt notes a test for whose failure the canary may be to blame; not when it was
// reached after the test had begun.
func (c *Canary) doubt(began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.doubtful == doubtfulTests || c.reachedAt.After(began) {
		return
	}
	if c.doubtful++; c.doubtful == doubtfulTests {
		c.loop.Pool.TestApart(false)
		c.log.Warn().Str("target", c.target).Int("tests", doubtfulTests).
			Msg("the canary was not reached for some tests in a row and may be down: clients' requests test proxies again, too")
	}
}

// nextPause is the time until the next round.
func (c *Canary) nextPause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.doubtful < doubtfulTests {
		return every
	}
	c.pause = min(max(2*c.pause, leastPause), mostPause)
	return c.pause
}
