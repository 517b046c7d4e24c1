package forward

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"swivel/pool/upstream/http1"
)

// passed is those of fields that are passed on, with what switches protocols if the
// message does that.
func passed(fields http1.Fields, framing http1.Framing, switching bool) http1.Fields {
	room := make(http1.Fields, 0, len(fields))
	if switching {
		return fields.Switching(room, framing)
	}
	return fields.EndToEnd(room, framing)
}

// ours says whether a field is kept from goproxy's handlers, and stays as it is:
// goproxy would take a message that switches protocols in hand itself.
func ours(name string) bool {
	return strings.EqualFold(name, "Connection") || strings.EqualFold(name, "Upgrade")
}

// toHeader is the map form of fields, for goproxy's handlers.
func toHeader(fields http1.Fields) http.Header {
	h := make(http.Header, len(fields))
	values := make([]string, len(fields)) // one array for all the values
	for i := range fields {
		if ours(fields[i].Name) {
			continue
		}
		key := textproto.CanonicalMIMEHeaderKey(fields[i].Name)
		if old, ok := h[key]; ok {
			h[key] = append(old, fields[i].Value)
			continue
		}
		values[i] = fields[i].Value
		h[key] = values[i : i+1 : i+1]
	}
	return h
}

// merge is fields with the values that h gives them now: in their own order
// and spelling, without those that a handler deleted, and with those it added
// at the end.
func merge(fields http1.Fields, h http.Header) http1.Fields {
	if unchanged(fields, h) {
		return fields
	}
	merged := make(http1.Fields, 0, len(fields)+1)
	for i := range fields {
		if v, ok := valueNow(fields, i, h); ok && isValue(v) {
			merged = append(merged, http1.Field{Name: fields[i].Name, Value: v})
		}
	}
	return appendAdded(merged, h)
}

func unchanged(fields http1.Fields, h http.Header) bool {
	shown := 0
	for i := range fields {
		if v, ok := valueNow(fields, i, h); !ok || v != fields[i].Value {
			return false
		}
		if !ours(fields[i].Name) {
			shown++
		}
	}
	return shown == total(h)
}

// valueNow is what h says of the i-th field.
func valueNow(fields http1.Fields, i int, h http.Header) (string, bool) {
	if ours(fields[i].Name) {
		return fields[i].Value, true
	}
	values := h[textproto.CanonicalMIMEHeaderKey(fields[i].Name)]
	if n := before(fields, i); n < len(values) {
		return values[n], true
	}
	return "", false
}

// isValue says whether a handler's value cannot end its line.
func isValue(v string) bool { return !strings.ContainsAny(v, "\r\n") }

// before counts the fields before the i-th that bear its name.
func before(fields http1.Fields, i int) int {
	n := 0
	for j := range i {
		if strings.EqualFold(fields[j].Name, fields[i].Name) {
			n++
		}
	}
	return n
}

func total(h http.Header) int {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n
}

func appendAdded(merged http1.Fields, h http.Header) http1.Fields {
	keys := make([]string, 0, len(h))
	for key := range h {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		for _, v := range h[key][min(merged.Count(key), len(h[key])):] {
			if httpguts.ValidHeaderFieldName(key) && isValue(v) {
				merged = append(merged, http1.Field{Name: key, Value: v})
			}
		}
	}
	return merged
}

// withHost makes the Host field say what the target says (RFC 9112 section
// 3.2.2), and drops the fields that are meant for swivel. An HTTP/1.0 client
// cannot have meant an Expect field: it knows no interim responses (RFC 9110
// section 10.1.1).
func withHost(fields http1.Fields, host string, minor int) http1.Fields {
	out := fields[:0]
	found := false
	for _, f := range fields {
		switch {
		case strings.EqualFold(f.Name, "Host"):
			f.Value, found = host, true
		case minor == 0 && strings.EqualFold(f.Name, "Expect"):
			continue
		case isSwivels(f.Name):
			continue
		}
		out = append(out, f)
	}
	if !found {
		out = slices.Insert(out, 0, http1.Field{Name: "Host", Value: host})
	}
	return out
}

// isSwivels says whether a field is meant for swivel and not for the target.
func isSwivels(name string) bool {
	return len(name) >= 9 && strings.EqualFold(name[:9], "X-Swivel-")
}

// keptFrom says of a name whether it may not be in the trailer of a request with
// these fields in its head.
func keptFrom(head http1.Fields) func(name string) bool {
	nominated := head.Nominated()
	return func(name string) bool { return isSwivels(name) || nominated != nil && nominated(name) }
}

// absoluteForm is the target as an HTTP proxy understands it: some clients ask
// for a websocket by a ws:// target, which few proxies know.
func absoluteForm(target string) string {
	if len(target) > 5 && strings.EqualFold(target[:5], "ws://") {
		return "http://" + target[5:]
	}
	return target
}
