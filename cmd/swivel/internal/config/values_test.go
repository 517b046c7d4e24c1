package config

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1m30s": 90 * time.Second, "0": 0, "0s": 0, "-5s": -5 * time.Second, // Validate's to refuse
		"30": 30 * time.Second, "1.5": 1500 * time.Millisecond, "1e3": 1000 * time.Second,
	} {
		d := Duration(time.Hour)
		if err := d.UnmarshalText([]byte(text)); err != nil || d != Duration(want) {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{
		"", " ", "s", "soon", "NaN", "nan", "Inf", "-Inf", "-5", "1e9", "1e300", "30 s", "5d", "99999999999h", "9223372036854775807", "1,5", "5s5",
	} {
		d := Duration(time.Hour)
		if err := d.UnmarshalText([]byte(text)); err == nil || d != Duration(time.Hour) {
			t.Errorf("%q: accepted as %v (%v)", text, d, err)
		}
	}
}

func TestDurationReadsWhatItWrites(t *testing.T) {
	for _, want := range []Duration{0, Duration(time.Millisecond), Duration(90 * time.Minute), longest} {
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got Duration
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestHedges(t *testing.T) {
	for text, want := range map[string]Hedge{
		"p95": {}, "off": {Off: true}, "500ms": {Fixed: Duration(500 * time.Millisecond)}, "2": {Fixed: Duration(2 * time.Second)},
	} {
		h := Hedge{Off: true, Fixed: 7} // nothing of an earlier source may be left
		if err := h.UnmarshalText([]byte(text)); err != nil || h != want {
			t.Errorf("%q: %+v, %v", text, h, err)
		}
	}
	for _, text := range []string{"", "p99", "P95", "on", "0", "0s", "-1s", "-1", "NaN", "Inf", "often", "95%"} {
		h := Hedge{Fixed: 7}
		if err := h.UnmarshalText([]byte(text)); err == nil || h != (Hedge{Fixed: 7}) {
			t.Errorf("%q: accepted as %+v", text, h)
		}
	}
}
