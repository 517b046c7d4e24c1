package resilience

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// upstreams are the whole pool by name.
type upstreams map[string]*upstream

const soundCount = 10

// newUpstreams starts twenty upstreams of which half are sound.
func newUpstreams(t *testing.T, l *ledger) upstreams {
	t.Helper()
	all := upstreams{}
	add := func(name string, s script) { all[name] = newUpstream(t, name, s, l) }
	for i := range soundCount {
		add(soundName(i), sound(soundDelay(i)))
	}
	for _, n := range []string{"1", "2"} {
		add("closed-"+n, silent)
		add("silent-"+n, silent)
		add("gateway-"+n, always(badGateway))
		add("flaky-"+n, flaky(10*time.Millisecond))
	}
	add("login", always(needsLogin))
	add("slow", sound(2*time.Second))
	// Only now, when all have their port: none can be given that of another.
	all["closed-1"].refuse()
	all["closed-2"].refuse()
	return all
}

func soundName(i int) string { return fmt.Sprintf("sound-%d", i) }

// soundDelay spreads the sound ones from 5 to 30 ms.
func soundDelay(i int) time.Duration {
	return 5*time.Millisecond + time.Duration(i)*25*time.Millisecond/(soundCount-1)
}

// list are the lines of the proxy list.
func (all upstreams) list() (lines []string) {
	for _, u := range all {
		lines = append(lines, fmt.Sprintf("http://%s name=%s", u.hostPort, u.name))
	}
	return lines
}

// isSound says whether an upstream worked all the time.
func isSound(name string) bool {
	return strings.HasPrefix(name, "sound-") && !slices.Contains(dying, name)
}
