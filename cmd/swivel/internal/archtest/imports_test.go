package archtest

import (
	"slices"
	"strings"
	"testing"
)

// closed says what of this module and of others a package may import; the
// standard library is free. A "..." stands for everything below.
var closed = []struct {
	pkg     string
	ours    []string
	foreign []string
	why     string
}{
	{"breaker", nil, nil,
		"the state machine is pure: time and chance come in as arguments, so a test can play every course of events"},
	{"migrations", nil, nil,
		"the schema has to be usable from any tool, whatever driver it brings"},
	{"pool", []string{"breaker", "pool/budget", "pool/route", "pool/spelling"}, []string{"go.yaml.in/yaml/v3"},
		"who is picked and who is blamed can be tested without a socket, a database or a log"},
	{"pool/budget", nil, nil,
		"a token bucket knows nothing of what its tokens are spent on"},
	{"pool/route", nil, nil,
		"what a client may ask for is a grammar, and depends on nobody who answers"},
	{"pool/spelling", nil, nil,
		"what a word looks like does not depend on what it means"},
	{"pool/upstream", []string{"pool", "pool/upstream/http1", "pool/upstream/lifetime", "pool/upstream/tcp"}, []string{"golang.org/x/net/proxy", "golang.org/x/sys/unix"},
		"what a proxy's answer means does not depend on who asked"},
	{"pool/upstream/http1", nil, nil,
		"reading and writing heads is used on both sides of the daemon and knows neither"},
	{"pool/upstream/lifetime", nil, nil,
		"how something ends does not depend on what it is"},
	{"pool/upstream/tcp", []string{"pool/upstream/lifetime"}, []string{"golang.org/x/sys/unix"},
		"a connection is the same to a proxy, to a target and to a name of neither"},
	{"cmd/swivel/internal/auth", []string{"cmd/swivel/internal/namedfile"}, []string{"golang.org/x/crypto/bcrypt", "golang.org/x/sync/singleflight"},
		"who may come in does not depend on what is asked, nor on how"},
	{"cmd/swivel/internal/namedfile", nil, []string{"golang.org/x/sys/unix"},
		"a file is read alike whatever is in it"},
	{"cmd/swivel/internal/limit", nil, []string{"golang.org/x/time/rate"},
		"a limit knows whose it is and nothing of what it limits"},
	{"cmd/swivel/internal/targets", nil, []string{"golang.org/x/net/idna"},
		"what clients may have can be tried out without a client, a pool or a name server"},
	{"cmd/swivel/internal/socks", nil, nil,
		"reading a protocol is one thing, serving it another"},
	{"cmd/swivel-bench", []string{"cmd/swivel-bench/..."}, []string{"github.com/alecthomas/kong"},
		"swivel is measured from outside, as any other proxy, so nothing of it may be inside"},
	{"pool/upstream/listentest", nil, nil,
		"what is served is its callers' business"},
	{"cmd/swivel/internal/swiveltest", nil, nil,
		"it looks at swivel from outside, as its users do: what it knew from inside, no test would notice to be wrong"},
	{"storage", []string{"breaker"}, nil,
		"the journal works with any store, so it names none"},
	{"cmd/swivel/internal/fleet", []string{"breaker", "storage"}, nil,
		"what instances tell each other is decided without a server, a pool or a clock, so that a thousand of them can be simulated"},
	{"pool/upstream/leaktest", nil, nil,
		"what a test leaves behind does not depend on what it tests"},
	{"cmd/swivel/internal/eventlog/logtest", nil, nil,
		"a buffer knows nothing of what is written to it"},
	{"storage/redis", []string{"storage"}, []string{"github.com/redis/go-redis/v9/..."},
		"what a server is told is decided elsewhere, where it can be tried without one"},
	{"storage/storetest", []string{"storage", "breaker"}, []string{"github.com/google/go-cmp/cmp"},
		"every store runs the same tests, so they cannot know one of them"},
}

// confined says where alone a library may be imported; nil: by tests only.
var confined = []struct {
	library string
	where   []string
	why     string
}{
	{"github.com/mattn/go-sqlite3", []string{"storage/sqlite"},
		"it needs a C compiler and has its own idea of errors; both end at the store"},
	{"github.com/pressly/goose", []string{"storage/sqlite"},
		"only the store brings its schema up to date"},
	{"github.com/redis/go-redis", []string{"storage/redis"},
		"a single daemon does without a server, and its packages without the client"},
	{"github.com/elazarl/goproxy", []string{"cmd/swivel/internal/forward"},
		"it serves plain requests only: tunnels through it would lose the client's first bytes"},
	{"github.com/rs/zerolog", []string{"cmd/..."},
		"the core returns events; what is logged, and once only, is the program's decision"},
	{"github.com/fsnotify/fsnotify", []string{"cmd/swivel/internal/daemon"},
		"a change of a file means a reload, and only the daemon knows what that is"},
	{"github.com/alecthomas/kong", []string{"cmd/swivel", "cmd/swivel-bench"},
		"flags are turned into a configuration before anything else sees them"},
	{"github.com/prometheus", []string{"cmd/swivel/internal/metrics"},
		"the core keeps numbers, and one package says what they are called"},
	{"golang.org/x/net/proxy", []string{"pool/upstream"},
		"there is one way to speak SOCKS, and its errors have one meaning"},
	{"github.com/coreos/go-systemd", []string{"cmd/swivel/internal/systemd"},
		"one package speaks with the service manager, and does nothing where there is none"},
	{"github.com/chromedp", nil,
		"it is for tests: a program that drives browsers is another one"},
	{"github.com/getkin/kin-openapi", nil,
		"it is for tests: what is served is written by hand, and held against its description there"},
	{"net/http/pprof", nil,
		"importing it adds handlers to the default mux of the whole process"},
	{"pgregory.net/rapid", nil,
		"it is for tests, and registers flags when it is imported"},
	{"github.com/google/go-cmp", []string{"storage/storetest"},
		"it is for tests, and panics on fields that it may not read"},
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	all := sources(t)
	for _, rule := range closed {
		i := slices.IndexFunc(all, func(s source) bool { return s.path == rule.pkg })
		if i < 0 {
			t.Errorf("package %s is gone: move its rule along", rule.pkg)
			continue
		}
		for _, imported := range all[i].imports() {
			if !allowed(imported, rule.ours, rule.foreign) {
				t.Errorf("%s imports %s, but %s", rule.pkg, imported, rule.why)
			}
		}
	}
}

func TestLibrariesStayWhereTheyBelong(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imports() {
			for _, rule := range confined {
				if isOrBelow(imported, rule.library) && !matchesAny(s.path, rule.where) {
					t.Errorf("%s imports %s, but %s", s.path, imported, rule.why)
				}
			}
		}
	}
}

// TestPackagesForTestsStayInTests: what fails a test, starts programs or makes up
// certificates has no place in a program. Such a package is known by its name.
func TestPackagesForTestsStayInTests(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		found[s.path] = isForTests(s.path)
		for _, imported := range s.imports() {
			if isForTests(imported) && !isForTests(s.path) {
				t.Errorf("%s imports %s, which is for tests: call it ...test if it is, too", s.path, imported)
			}
		}
	}
	for _, path := range []string{"cmd/swivel/internal/swiveltest", "storage/storetest"} {
		if !found[path] {
			t.Errorf("%s is gone, or not known as a package for tests any more", path)
		}
	}
}

// isForTests knows "testing", "testing/iotest", "net/http/httptest" and our own
// like them.
func isForTests(imported string) bool {
	return isOrBelow(imported, "testing") || strings.HasSuffix(imported, "test")
}

// TestRulesCatchWhatTheyForbid: a rule that lets everything pass looks just
// like one that is kept.
func TestRulesCatchWhatTheyForbid(t *testing.T) {
	for _, c := range []struct {
		imported      string
		ours, foreign []string
		want          bool
	}{
		{"fmt", nil, nil, true},
		{"net/http", nil, nil, true},
		{"swivel/breaker", []string{"breaker"}, nil, true},
		{"swivel/breaker", nil, nil, false},
		{"swivel/pool/upstream", []string{"pool"}, nil, false},
		{"swivel", nil, nil, false},
		{"golang.org/x/net/proxy", nil, []string{"golang.org/x/net/proxy"}, true},
		{"golang.org/x/net/html", nil, []string{"golang.org/x/net/proxy"}, false},
		{"github.com/rs/zerolog", []string{"breaker"}, nil, false},
		{"C", nil, nil, false},
	} {
		if got := allowed(c.imported, c.ours, c.foreign); got != c.want {
			t.Errorf("allowed(%q, %q, %q) = %v", c.imported, c.ours, c.foreign, got)
		}
	}
	for _, c := range []struct {
		path    string
		pattern string
		want    bool
	}{
		{"cmd/swivel/internal/front", "cmd/...", true},
		{"cmdline", "cmd/...", false},
		{"storage/sqlite", "storage/sqlite", true},
		{"storage/sqlite/deep", "storage/sqlite", false},
	} {
		if got := matchesAny(c.path, []string{c.pattern}); got != c.want {
			t.Errorf("%q matches %q: %v", c.path, c.pattern, got)
		}
	}
}

// allowed says whether a package that may import ours and foreign may import
// this.
func allowed(imported string, ours, foreign []string) bool {
	if inner, ok := ourOwn(imported); ok {
		return matchesAny(inner, ours)
	}
	return isStandard(imported) || matchesAny(imported, foreign)
}

// ourOwn cuts the module's name off.
func ourOwn(imported string) (string, bool) {
	if imported == module {
		return "", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// isStandard: other modules begin with a domain. "C" is no package at all.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && imported != "C"
}

func isOrBelow(imported, library string) bool {
	return imported == library || strings.HasPrefix(imported, library+"/")
}

func matchesAny(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
			return isOrBelow(path, folder)
		}
		return path == pattern
	})
}
