package traffic

import (
	"math"
	"time"
)

// The classes of times: from shortest up, each a twelfth longer than the one
// before (eight make a doubling), to more than half a minute.
const (
	shortest   = 100 * time.Microsecond
	perDoubled = 8
	classes    = 19 * perDoubled
)

// times are counts by class. The zero value is empty.
type times [classes]uint32

func (t *times) add(d time.Duration) {
	class := int(math.Log2(float64(d)/float64(shortest)) * perDoubled)
	t[min(max(class, 0), classes-1)]++
}

func (t *times) addAll(more *times) {
	for i, n := range more {
		t[i] += n
	}
}

// quantile is a time that the given share took no longer than, give or take a
// twentieth; 0 of none.
func (t *times) quantile(q float64) time.Duration {
	total := uint32(0)
	for _, n := range t {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank := uint32(math.Ceil(q * float64(total)))
	class := 0
	for seen := t[0]; seen < rank; seen += t[class] {
		class++
	}
	return time.Duration(float64(shortest) * math.Exp2((float64(class)+0.5)/perDoubled))
}
