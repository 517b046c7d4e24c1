package integration

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/net/websocket"

	"swivel/cmd/swivel/internal/swiveltest"
)

// clientCheck is something that a client of the table in the README does.
type clientCheck struct {
	client, does string
	run          func(*testing.T, *stage)
}

// clientChecks are in the order of the README.
var clientChecks = []clientCheck{
	{"curl", "http", func(t *testing.T, s *stage) { s.curl(t, s.o.http) }},
	{"curl", "https", func(t *testing.T, s *stage) { s.curl(t, s.o.https) }},
	{"curl", "HTTP/1.0", func(t *testing.T, s *stage) { s.curl(t, s.o.http, "--http1.0") }},
	{"curl", "`--proxytunnel`", func(t *testing.T, s *stage) { s.curl(t, s.o.http, "--proxytunnel") }},
	{"curl", "kept connections", checkCurlKeeps},
	{"curl", "uploads that expect a 100", checkCurlExpects},
	{"curl", "SOCKS5", checkCurlSOCKS},
	{"wget", "http", func(t *testing.T, s *stage) { s.wget(t, s.o.http) }},
	{"wget", "https", func(t *testing.T, s *stage) { s.wget(t, s.o.https) }},
	{"Python requests", "http", inPython("requests", "http")},
	{"Python requests", "https", inPython("requests", "https")},
	{"Python urllib3", "http", inPython("urllib3", "http")},
	{"Python urllib3", "https", inPython("urllib3", "https")},
	{"Python httpx", "http", inPython("httpx", "http")},
	{"Python httpx", "https", inPython("httpx", "https")},
	{"Python aiohttp", "http", inPython("aiohttp", "http")},
	{"Python aiohttp", "https", inPython("aiohttp", "https")},
	{"Python aiohttp", "wss", inPython("aiohttp", "wss")},
	{"Python websocket-client", "ws", inPython("websocket", "ws")},
	{"Python websocket-client", "wss", inPython("websocket", "wss")},
	{"Scrapy", "http", inPython("scrapy", "http")},
	{"Scrapy", "https", inPython("scrapy", "https")},
	{"Node undici", "http", inNode("undici", "http")},
	{"Node undici", "https", inNode("undici", "https")},
	{"Node axios", "http", inNode("axios", "http")},
	{"Node axios", "https", inNode("axios", "https")},
	{"Node axios with https-proxy-agent", "https", inNode("https-proxy-agent", "https")},
	{"Go net/http", "http", func(t *testing.T, s *stage) { s.golang(t, s.o.http) }},
	{"Go net/http", "https", func(t *testing.T, s *stage) { s.golang(t, s.o.https) }},
	{"git", "clone and push over http", func(t *testing.T, s *stage) { checkGit(t, s, s.o.http) }},
	{"git", "clone and push over https", func(t *testing.T, s *stage) { checkGit(t, s, s.o.https) }},
	{"npm", "install", checkNPM},
	{"Chromium (Playwright)", "http", inNode("chromium", "http")},
	{"Chromium (Playwright)", "https", inNode("chromium", "https")},
}

// TestReadmeHasTheClientsThatAreRun: a row for each client, with all that it does.
func TestReadmeHasTheClientsThatAreRun(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{"| client | what it does in the tests", "| --- | ---"}
	last := ""
	for _, c := range clientChecks {
		if c.client == last {
			rows[len(rows)-1] += ", " + c.does
			continue
		}
		last = c.client
		rows = append(rows, "| "+c.client+" | "+c.does)
	}
	if want := strings.Join(rows, " |\n") + " |\n\n"; !strings.Contains(string(text), want) {
		t.Errorf("README.md has not this table:\n%s", want)
	}
}

// TestClients runs all of them without a password and with one.
func TestClients(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("p@ss:word"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	up := startSquid(t, s.o.ca)
	open := s.with(startDaemon(t, swiveltest.Setup{Lines: []string{up.line}}), nil, up.source)
	guarded := s.with(startDaemon(t, swiveltest.Setup{Lines: []string{up.line}, Env: []string{"SWIVEL_USERS=scraper:" + string(hash)}}),
		url.UserPassword("scraper", "p@ss:word"), up.source)
	for name, s := range map[string]*stage{"without a password": open, "with a password": guarded} {
		t.Run(name, func(t *testing.T) {
			for _, c := range clientChecks {
				t.Run(c.client+" "+c.does, func(t *testing.T) { c.run(t, s) })
			}
		})
	}
}

// stage is what clients need: a site and a swivel.
type stage struct {
	o      *origin
	proxy  url.URL // of swivel
	source string  // the address that requests come from, if they go through it
}

// newStage is a site that does what the clients come for.
func newStage(t *testing.T) *stage {
	t.Helper()
	site := http.NewServeMux()
	site.Handle("/", originHandler())
	site.Handle("/socket", websocket.Server{Handler: func(c *websocket.Conn) { _, _ = io.Copy(c, c) }})
	site.Handle("/repository.git/", newRepository(t))
	site.Handle("/registry/", newRegistry(t))
	o := &origin{ca: newAuthority(t)}
	const address = "127.0.0.1"
	o.http = "http://" + serveSite(t, address, nil, site)
	o.https = "https://" + serveSite(t, address, o.ca.serverConfig(t, address), site)
	return &stage{o: o}
}

func (s stage) with(d daemon, user *url.Userinfo, source string) *stage {
	s.proxy, s.source = url.URL{Scheme: "http", User: user, Host: d.Listen}, source
	return &s
}

// base is where the site is by the scheme, which may be that of a websocket.
func (s *stage) base(scheme string) string {
	base := s.o.http
	if scheme == "https" || scheme == "wss" {
		base = s.o.https
	}
	_, rest, _ := strings.Cut(base, "://")
	return scheme + "://" + rest
}

// urls are what a client is to ask for, twice to see its connection kept, and want
// is what it is to print.
func (s *stage) urls(scheme string) (urls []string, want string) {
	if strings.HasPrefix(scheme, "ws") {
		one := s.base(scheme) + "/socket"
		return []string{one, one}, "ping\nping\n"
	}
	one := s.base(scheme) + "/ip"
	return []string{one, one}, s.source + "\n" + s.source + "\n"
}

func inPython(library, scheme string) func(*testing.T, *stage) {
	return func(t *testing.T, s *stage) {
		pythonModule(t, library)
		urls, want := s.urls(scheme)
		got := runClient(t, "", python, append([]string{"testdata/clients.py", library, s.proxy.String(), s.o.ca.file}, urls...)...)
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func inNode(library, scheme string) func(*testing.T, *stage) {
	return func(t *testing.T, s *stage) {
		urls, want := s.urls(scheme)
		cmd := exec.CommandContext(t.Context(), installed(t, "node", "nodejs"), append([]string{"testdata/clients.js", library, s.proxy.String()}, urls...)...)
		cmd.Env = append(swiveltest.PlainEnv(), "NODE_PATH="+nodeModules, "NODE_EXTRA_CA_CERTS="+s.o.ca.file)
		if library == "chromium" {
			cmd.Env = append(cmd.Env, "CHROMIUM="+installed(t, "chromium", "chromium"), "HOME="+t.TempDir())
		}
		cmd.WaitDelay = 5 * time.Second
		var complaints strings.Builder
		cmd.Stderr = &complaints
		if got, err := cmd.Output(); string(got) != want {
			t.Errorf("got %q (%v), want %q; if a module is missing: make peers\n%s", got, err, want, complaints.String())
		}
	}
}

func (s *stage) golang(t *testing.T, base string) {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		Proxy: http.ProxyURL(&s.proxy), TLSClientConfig: &tls.Config{RootCAs: s.o.ca.pool},
	}}
	defer client.CloseIdleConnections()
	for range 2 {
		if got, err := get(client, base+"/ip"); err != nil || strings.TrimSpace(got) != s.source {
			t.Errorf("%q, %v", got, err)
		}
	}
}
