package sqlite

import (
	"fmt"
	"math"
	"time"
)

// Times are REAL columns of unix seconds: the unit everybody's tools expect, and
// wall-clock, because a monotonic reading means nothing after a reboot. Doubles
// resolve a quarter of a microsecond in this century, so whole microseconds
// survive exactly.

// maxSeconds is the first instant after the year 9999, and the longest duration.
const maxSeconds = 253402300800

// toSeconds returns nil, which is NULL, for the zero time.
func toSeconds(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return seconds(at)
}

func seconds(at time.Time) float64 {
	return float64(at.UnixMicro()) / 1e6
}

func fromSeconds(s float64) time.Time {
	return time.UnixMicro(int64(math.Round(s * 1e6))).UTC()
}

// decoder takes the values of a row one after the other and keeps the first
// error, so that a row reads as a list of fields. NULL is the zero value.
type decoder struct {
	values []any
	id     string
	err    error
}

func (d *decoder) next() any {
	value := d.values[0]
	d.values = d.values[1:]
	return value
}

// fail names the column but does not repeat the value: nobody knows what a
// damaged row may hold, and the error goes to the log.
func (d *decoder) fail(column, problem string) {
	if d.err == nil {
		d.err = fmt.Errorf("row %q: %s: %s", d.id, column, problem)
	}
}

func (d *decoder) text(column string) string {
	switch value := d.next().(type) {
	case nil:
	case string:
		if column == "proxy_id" && len(value) <= 64 {
			d.id = value
		}
		return value
	default:
		d.fail(column, "not a text")
	}
	return ""
}

func (d *decoder) count(column string) int {
	switch value := d.next().(type) {
	case nil:
	case int64:
		if 0 <= value && value <= math.MaxUint32 {
			return int(value)
		}
		d.fail(column, "out of range")
	default:
		d.fail(column, "not a whole number")
	}
	return 0
}

func (d *decoder) flag(column string) bool {
	value := d.count(column)
	if value > 1 {
		d.fail(column, "not 0 or 1")
	}
	return value == 1
}

// real returns a number of seconds between 0 and maxSeconds.
func (d *decoder) real(column string) float64 {
	switch value := d.next().(type) {
	case nil:
	case int64:
		return d.inRange(column, float64(value))
	case float64:
		return d.inRange(column, value)
	default:
		d.fail(column, "not a number")
	}
	return 0
}

func (d *decoder) inRange(column string, value float64) float64 {
	if !(0 <= value && value < maxSeconds) { // false for NaN too
		d.fail(column, "out of range")
		return 0
	}
	return value
}

func (d *decoder) time(column string) time.Time {
	if d.values[0] == nil {
		d.next()
		return time.Time{}
	}
	return fromSeconds(d.real(column))
}

func (d *decoder) duration(column string) time.Duration {
	value := d.real(column)
	if value > math.MaxInt64/float64(time.Second) {
		d.fail(column, "out of range")
		return 0
	}
	return time.Duration(math.Round(value*1e6)) * time.Microsecond
}
