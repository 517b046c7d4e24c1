package simulate

import (
	"strconv"
	"time"

	"swivel/storage"
)

// work is what a server has had to do.
type work struct {
	calls    int
	commands int // inside the script too
	told     int // proxies, by the instances
	fresh    int // of these, such as say something new
	returned int // proxies, to the instances
	wishes   int // for leases
	nudges   int // received by instances
	received int // bytes, without those of the protocol
	sent     int // likewise
}

func (w *work) add(o work) { w.combine(o, 1) }

// since is the work after an earlier account of it.
func (w work) since(earlier work) work {
	w.combine(earlier, -1)
	return w
}

func (w *work) combine(o work, sign int) {
	w.calls += sign * o.calls
	w.commands += sign * o.commands
	w.told += sign * o.told
	w.fresh += sign * o.fresh
	w.returned += sign * o.returned
	w.wishes += sign * o.wishes
	w.nudges += sign * o.nudges
	w.received += sign * o.received
	w.sent += sign * o.sent
}

// takes is what the work takes of a server's processor.
func (w work) takes() time.Duration {
	return time.Duration(w.calls)*perCall + time.Duration(w.told)*perTold +
		time.Duration(w.returned)*perAnswered + time.Duration(w.wishes)*perWish
}

// sizeOfSync is how long the JSON of a call is, within a few bytes.
func sizeOfSync(s *storage.Sync) (n int) {
	n = 150 + len(s.Instance) + len(s.Salt) + len(s.Life)
	for i := range s.Known {
		n += sizeOf(&s.Known[i]) + 1
	}
	for _, w := range s.Leases {
		n += len(`{"id":"","a":""},`) + len(w.ProxyID) + digits(w.Stamp)
	}
	for _, id := range s.Released {
		n += len(`"",`) + len(id)
	}
	return n
}

// sizeOf is how long the JSON of a proxy is.
func sizeOf(k *storage.Known) (n int) {
	n = len(`{"id":"","a":"","u":"","k":""}`) + len(k.ProxyID) + digits(k.Stamp) + digits(k.Until) + digits(k.LastSuccess)
	n += text(k.State) + text(k.Cause) + number(k.OpensInRow) + number(k.ProbeWins)
	if k.Succeeded {
		n += len(`,"z":true`)
	}
	misses, counts := 0, 0
	for _, m := range k.Failures {
		misses += len(`{"t":"","i":""},`) + digits(m.At) + len(m.By)
	}
	for _, c := range k.Window {
		counts += len(`{"t":"","s":,"f":},`) + digits(c.At) + len(strconv.Itoa(c.Successes)) + len(strconv.Itoa(c.Failures))
	}
	return n + listed(misses) + listed(counts)
}

func text(s string) int {
	if s == "" {
		return 0
	}
	return len(`,"s":""`) + len(s)
}

func number(n int) int {
	if n == 0 {
		return 0
	}
	return len(`,"o":`) + len(strconv.Itoa(n))
}

// listed is how long a list is, of elements that are so long with their commas.
func listed(n int) int {
	if n == 0 {
		return 0
	}
	return len(`,"f":[]`) + n - 1
}

func digits(m storage.Moment) int {
	if m <= 0 {
		return 0
	}
	return 16
}
