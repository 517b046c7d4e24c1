package sqlite

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"swivel/storage"
)

// What has no fixed length is a JSON array in a TEXT column: it is only ever
// read and written with its row, and SQLite's own functions understand it.

// listed are the texts of a parameter made by toList. As many parameters as
// there may be texts SQLite would not take.
const listed = "(SELECT value FROM json_each(?))"

func toList(texts []string) string {
	out, _ := json.Marshal(texts) // nothing about strings can fail
	return string(out)
}

// toStamps returns a JSON array of unix seconds.
func toStamps(times []time.Time) string {
	out := append(make([]byte, 0, 2+20*len(times)), '[')
	for i, at := range times {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendSeconds(out, at)
	}
	return string(append(out, ']'))
}

// toTallies returns a JSON array of [unix seconds, successes, failures].
func toTallies(tallies []storage.Tally) string {
	out := append(make([]byte, 0, 2+30*len(tallies)), '[')
	for i, t := range tallies {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendSeconds(append(out, '['), t.At)
		out = strconv.AppendInt(append(out, ','), int64(t.Successes), 10)
		out = strconv.AppendInt(append(out, ','), int64(t.Failures), 10)
		out = append(out, ']')
	}
	return string(append(out, ']'))
}

func appendSeconds(out []byte, at time.Time) []byte {
	return strconv.AppendFloat(out, seconds(at), 'f', -1, 64)
}

func (d *decoder) stamps(column string) []time.Time {
	var stamps []float64
	if !d.array(column, "not an array of numbers", &stamps) {
		return nil
	}
	times := make([]time.Time, len(stamps))
	for i, stamp := range stamps {
		times[i] = d.stamp(column, stamp)
	}
	return times
}

func (d *decoder) tallies(column string) []storage.Tally {
	var rows [][]float64
	if !d.array(column, "not an array of arrays of numbers", &rows) {
		return nil
	}
	tallies := make([]storage.Tally, len(rows))
	for i, row := range rows {
		if len(row) != 3 {
			d.fail(column, "not an array of arrays of three")
			return nil
		}
		tallies[i] = storage.Tally{
			At: d.stamp(column, row[0]), Successes: d.whole(column, row[1]), Failures: d.whole(column, row[2]),
		}
	}
	return tallies
}

// array parses the next column into what target points to. It returns false if
// there is nothing in it, or nothing to be understood.
func (d *decoder) array(column, otherwise string, target any) bool {
	text := d.text(column)
	if text == "" || text == "[]" {
		return false
	}
	if err := json.Unmarshal([]byte(text), target); err != nil {
		d.fail(column, otherwise)
		return false
	}
	return true
}

func (d *decoder) stamp(column string, stamp float64) time.Time {
	if stamp == 0 { // what null decodes to
		d.fail(column, "a time that is none")
	}
	return fromSeconds(d.inRange(column, stamp))
}

func (d *decoder) whole(column string, value float64) int {
	if !(0 <= value && value <= math.MaxUint32) || value != math.Trunc(value) {
		d.fail(column, "not a count")
		return 0
	}
	return int(value)
}
