package config

import "errors"

// Hedge is when a second proxy is asked while the first is slow: "p95" (slower
// than 95 % of the recent handshakes, the zero value), a duration, or "off".
type Hedge struct {
	Off   bool
	Fixed Duration // 0: p95
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hedge) UnmarshalText(text []byte) error {
	switch string(text) {
	case "p95":
		*h = Hedge{}
		return nil
	case "off":
		*h = Hedge{Off: true}
		return nil
	}
	var d Duration
	if err := d.UnmarshalText(text); err != nil || d <= 0 {
		return errors.New("want p95, off, or a duration such as 500ms")
	}
	*h = Hedge{Fixed: d}
	return nil
}

// MarshalText is the reverse of UnmarshalText.
func (h Hedge) MarshalText() ([]byte, error) {
	switch {
	case h.Off:
		return []byte("off"), nil
	case h.Fixed == 0:
		return []byte("p95"), nil
	}
	return h.Fixed.MarshalText()
}
