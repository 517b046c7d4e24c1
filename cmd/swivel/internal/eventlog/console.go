package eventlog

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"swivel/pool"
)

// newConsole writes lines for eyes: a sentence, and behind it the fields that
// are not in it. What does not help there, such as ids of named proxies, is
// left to the JSON form.
func newConsole(w io.Writer) io.Writer {
	return zerolog.ConsoleWriter{Out: w, TimeFormat: "15:04:05.000", NoColor: true, FormatPrepare: toSentence}
}

// fields are one event, as it would be in JSON.
type fields map[string]any

func toSentence(event map[string]any) error {
	f := fields(event)
	switch f[zerolog.MessageFieldName] {
	case "exchange":
		f[zerolog.MessageFieldName] = f.exchange()
	case "breaker":
		f[zerolog.MessageFieldName] = f.transition()
	}
	return nil
}

// exchange is like "GET example.com:80 200 via good in 0.4ms, after dead
// (dial_refused)".
func (f fields) exchange() string {
	kind, method := f.take("kind"), f.take("method")
	if method == "" {
		method = strings.ToUpper(kind)
	}
	words := []string{method}
	if target := f.take("target"); target != "" {
		words = append(words, target)
	}
	words = append(words, f.take("status"))
	if name := f.take("proxy_name"); name != "" {
		words = append(words, "via", name)
	}
	words = append(words, "in", f.takeDuration("took_ms"))
	sentence := strings.Join(words, " ")
	if failed := f.failed(); len(failed) > 0 {
		sentence += ", after " + strings.Join(failed, ", ")
	}
	f.drop("proxy", "opened_ms", "attempts")
	return sentence
}

// failed are the attempts that did not serve, with their signals: a success too,
// if its response was not what the client got.
func (f fields) failed() []string {
	var all []string
	attempts, _ := f["attempts"].([]any)
	served := false
	for _, a := range slices.Backward(attempts) {
		attempt, _ := a.(map[string]any)
		one := fields(attempt)
		if one["outcome"] == "success" {
			first := !served && one["proxy"] == f["proxy"]
			if served = served || first; first || one["signal"] != pool.Response.String() {
				continue
			}
		}
		all = append(all, one.take("proxy_name")+" ("+one.take("signal")+")")
	}
	slices.Reverse(all)
	return all
}

// transition is like "breaker of dead: closed -> open for 30.2s".
func (f fields) transition() string {
	sentence := "breaker of " + f.take("proxy_name") + ": " + f.take("from") + " -> " + f.take("to")
	if _, ok := f["rest_ms"]; ok {
		sentence += " for " + f.takeDuration("rest_ms")
	}
	f.drop("proxy")
	return sentence
}

// take removes a field and returns its value. Names of targets are the
// client's: what a terminal could take for a command comes out quoted.
func (f fields) take(name string) string {
	value := f[name]
	delete(f, name)
	if n, ok := value.(json.Number); ok {
		return n.String()
	}
	s, _ := value.(string)
	if quoted := strconv.QuoteToASCII(s); quoted != `"`+s+`"` {
		return quoted
	}
	return s
}

// takeDuration is take for a time in milliseconds.
func (f fields) takeDuration(name string) string {
	n, _ := strconv.ParseFloat(f.take(name), 64)
	d := time.Duration(n * float64(time.Millisecond))
	if d >= time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

func (f fields) drop(names ...string) {
	for _, name := range names {
		delete(f, name)
	}
}
