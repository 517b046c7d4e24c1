package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/pool"
)

// environment is what Load looks variables up in.
type environment map[string]string

func (e environment) lookup(name string) (string, bool) {
	value, ok := e[name]
	return value, ok
}

// file writes a configuration file.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "swivel.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFileYieldsToEnvironmentAndDefaultsToBoth(t *testing.T) {
	path := file(t, "listen: 127.0.0.1:1\ndb: file.db\nbreaker:\n  open_timeout: 7s\n  min_samples: 30\n")
	c, err := Load(Default(), path, environment{"SWIVEL_DB": "env.db", "SWIVEL_BREAKER_OPEN_TIMEOUT": "9s"}.lookup)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listen, want.DB = "127.0.0.1:1", "env.db"
	want.Breaker.OpenTimeout, want.Breaker.MinSamples = Duration(9*time.Second), 30
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestEmptyFileChangesNothing(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "comment": "# nothing\n", "byte order mark": "\ufeff", "dashes": "---\n", "empty values": "breaker:\n  window:\nlisten:\n",
	} {
		if c, err := Load(Default(), file(t, text), environment{}.lookup); err != nil || !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s: %v, %+v", name, err, c)
		}
	}
}

// In YAML 1.1 "off" is the boolean false.
func TestOffIsAWordAndNotAFalsehood(t *testing.T) {
	c, err := Load(Default(), file(t, "admin: off\nattempts: {hedge_after: off}\r\nallow_open_proxy: yes\n"), environment{}.lookup)
	if err != nil || c.Admin != "off" || !c.Attempts.HedgeAfter.Off || !c.AllowOpenProxy {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestMisspeltKeyIsRefusedWithItsLine(t *testing.T) {
	_, err := Load(Default(), file(t, "listn: 127.0.0.1:1\nbreaker:\n  open_time: 3s\n  window: 3s\nlimit:\n"), environment{}.lookup)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"line 1: unknown key listn", "line 3: unknown key breaker.open_time", "line 5: unknown key limit"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "config.") {
		t.Errorf("speaks of types: %v", err)
	}
}

func TestEveryBadValueIsReportedAtOnce(t *testing.T) {
	path := file(t, `listen: [1]
breaker:
  window: soon
  jitter: much
attempts:
  attempts: 2.5
  dial_timeout: [5s]
  hedge_after: p99
limits: 5
strategy: fast
on_exhausted: bla
bans: {statuses: [403, some]}
limits: {connections: many}
`)
	_, err := Load(Default(), path, environment{
		"SWIVEL_GRACE": "later", "SWIVEL_LIMITS_CONNECTIONS": "1.5", "SWIVEL_BREAKER_ERROR_RATIO": "half",
		"SWIVEL_ALLOW_OPEN_PROXY": "maybe", "SWIVEL_ATTEMPTS_HEDGE_AFTER": "-1s", "SWIVEL_BANS_STATUSES": "403,some",
	}.lookup)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		path, "line 1: listen: ", "line 3: breaker.window: want a duration", "line 4: breaker.jitter: want a number", "line 6: attempts.attempts: want a whole number",
		"line 7: attempts.dial_timeout: want a duration", "line 8: attempts.hedge_after: want p95, off, or a duration", "line 9: limits: ",
		"line 10: strategy: want weighted", "line 11: on_exhausted: want reject", "line 12: bans.statuses: want a whole number", "line 13: limits: stands in line 9 already",
		"SWIVEL_GRACE: want a duration", "SWIVEL_LIMITS_CONNECTIONS: want a whole number", "SWIVEL_BREAKER_ERROR_RATIO: want a number",
		"SWIVEL_ALLOW_OPEN_PROXY: want true or false", "SWIVEL_ATTEMPTS_HEDGE_AFTER: want p95, off", "SWIVEL_BANS_STATUSES: want a whole number",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestFileThatIsNoConfigurationIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no mapping": "- listen\n", "syntax": "listen: a: b\n", "tab": "breaker:\n\twindow: 1s\n", "key twice": "db: a\ndb: b\n",
		"second document": "db: a\n---\nlisten: 127.0.0.1:1\n", "bytes": "\x00\xff\xfe",
	} {
		if c, err := Load(Default(), file(t, text), environment{}.lookup); err == nil {
			t.Errorf("%s: accepted as %+v", name, c)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.yaml")
	_, err := Load(Default(), missing, environment{"SWIVEL_GRACE": "later"}.lookup)
	if err == nil || !strings.Contains(err.Error(), "cannot read "+missing+": no such file") || !strings.Contains(err.Error(), "SWIVEL_GRACE") {
		t.Errorf("%v", err)
	}
}

func TestEnvironmentNamesSeveralLists(t *testing.T) {
	for text, want := range map[string][]string{"a": {"a"}, "a,b": {"a", "b"}, " a , b,": {"a", "b"}, "": {}} {
		c, err := Load(Default(), "", environment{"SWIVEL_PROXIES": text}.lookup)
		if err != nil || !reflect.DeepEqual(c.Proxies, want) {
			t.Errorf("%q: %q, %v", text, c.Proxies, err)
		}
	}
}

// keys calls f with every key of the configuration, as the names that lead to
// it, and its value.
func keys(v reflect.Value, path []string, f func(path []string, value reflect.Value)) {
	for i := range v.NumField() {
		below := append(path[:len(path):len(path)], v.Type().Field(i).Tag.Get("yaml"))
		if field := v.Field(i); field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[Hedge]() {
			keys(field, below, f)
		} else {
			f(below, field)
		}
	}
}

func TestEveryKeyIsAnEnvironmentVariable(t *testing.T) {
	samples := map[reflect.Type]string{
		reflect.TypeFor[string](): "sample", reflect.TypeFor[int](): "321", reflect.TypeFor[float64](): "0.321", reflect.TypeFor[bool](): "true",
		reflect.TypeFor[Duration](): "321s", reflect.TypeFor[Hedge](): "321ms", reflect.TypeFor[[]string](): "one,two",
		reflect.TypeFor[[]int](): "403,429", reflect.TypeFor[pool.Strategy](): "fastest", reflect.TypeFor[pool.Secret](): "sample",
		reflect.TypeFor[attempts.Exhausted](): "wait",
	}
	defaults, n := Default(), 0
	keys(reflect.ValueOf(defaults), nil, func(path []string, value reflect.Value) {
		n++
		name := "SWIVEL_" + strings.ToUpper(strings.Join(path, "_"))
		for _, word := range path {
			if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" {
				t.Errorf("%s: a key is lower-case words", name)
			}
		}
		sample, ok := samples[value.Type()]
		if !ok {
			t.Fatalf("%s is of a type that this test does not know: %v", name, value.Type())
		}
		fromEnv, err := Load(defaults, "", environment{name: sample}.lookup)
		if err != nil {
			t.Errorf("%s=%s: %v", name, sample, err)
		}
		fromFile, err := Load(defaults, file(t, nested(path, sample)), environment{}.lookup)
		if err != nil {
			t.Errorf("%v: %s: %v", path, sample, err)
		}
		if reflect.DeepEqual(fromEnv, defaults) || !reflect.DeepEqual(fromEnv, fromFile) {
			t.Errorf("%s=%s is\n%+v, the same in the file\n%+v", name, sample, fromEnv, fromFile)
		}
	})
	if n < 30 {
		t.Errorf("only %d keys were found", n)
	}
}

// nested is a YAML file with one key.
func nested(path []string, value string) string {
	var out strings.Builder
	for i, key := range path {
		out.WriteString(strings.Repeat("  ", i) + key + ":")
		if i < len(path)-1 {
			out.WriteString("\n")
		}
	}
	if strings.Contains(value, ",") {
		value = "[" + value + "]"
	}
	return out.String() + " " + value + "\n"
}
