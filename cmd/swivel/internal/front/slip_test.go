package front

import (
	"strings"
	"testing"
	"time"
)

// TestAMisspeltRoutingKeyIsServedButNotSilently has clients who ask for a country
// and would get any.
func TestAMisspeltRoutingKeyIsServedButNotSilently(t *testing.T) {
	for name, want := range map[string]string{
		"sam-county-de":  "almost a routing key",
		"sam-country":    "has no value",
		"sam-country-de": "",
		"sam-prod":       "",
	} {
		r := newRig(t)
		r.start(r.proxy(func(c *peer) {
			if c.head() != "" {
				c.send(site)
			}
		}).addr() + " country=de")
		for range 3 {
			c := r.dial()
			c.send(getWith(basic(name + ":p")))
			c.wants(200)
		}
		r.logged(3)
		log := r.log.String()
		if strings.Count(log, `"level":"warn"`) != min(len(want), 1) || !strings.Contains(log, want) || strings.Contains(log, "sam-") {
			t.Errorf("%s: the log says %s", name, log)
		}
		if want == "" {
			continue
		}
		r.front.slips.told.Store(time.Now().Add(-slipEvery).UnixNano()) // a minute later
		c := r.dial()
		c.send(getWith(basic(name + ":p")))
		c.wants(200)
		r.logged(4)
		if strings.Count(r.log.String(), `"key":"country"`) != 2 {
			t.Errorf("%s: not told again: %s", name, r.log.String())
		}
	}
}

// Names without a slip must not use up what the log tells in a minute.
func TestSoundNamesDoNotHideASlip(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(func(c *peer) {
		if c.head() != "" {
			c.send(site)
		}
	}).addr())
	for _, name := range []string{"sam-prod", "sam-country-", "sam", "sam-county-de"} {
		c := r.dial()
		c.send(getWith(basic(name + ":p")))
		_, _ = c.reply()
		_ = c.Close()
	}
	if log := r.log.String(); strings.Count(log, `"key":"country"`) != 1 {
		t.Errorf("the log says %s", log)
	}
}

func BenchmarkSlip(b *testing.B) {
	now := time.Now()
	c := &client{front: &Front{}}
	r := &request{caller: &caller{name: "sam-scraper-prod-eu-17"}}
	for name, told := range map[string]time.Time{"due": now.Add(-slipEvery), "told": now} {
		b.Run(name, func(b *testing.B) {
			c.front.slips.told.Store(told.UnixNano())
			for b.Loop() {
				c.warnOfSlip(r, now)
			}
		})
	}
}
