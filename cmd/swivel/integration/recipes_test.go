package integration

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"swivel/cmd/swivel/internal/swiveltest"
)

// recipe is a section of docs/recipes.md.
type recipe struct{ title, language, code string }

var recipeForm = regexp.MustCompile("(?ms)^## (.+?)$\n\n(?:[^`#][^\n]*\n+)*```(\\w+)\n(.*?)^```$")

// recipes reads the document, all but what comes before its first section.
func recipes(t *testing.T) (all []recipe) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range recipeForm.FindAllStringSubmatch(string(text), -1) {
		all = append(all, recipe{m[1], m[2], m[3]})
	}
	if sections := strings.Count(string(text), "\n## "); len(all) != sections {
		t.Fatalf("%d of %d sections begin with a program", len(all), sections)
	}
	return all
}

// notRun are the sections that say so.
var notRun = map[string]bool{"Docker": true}

// TestRecipesWork runs the programs of docs/recipes.md as they stand there, but for
// the port of swivel and the path of the browser. Each has to get the page, and to
// belong to its session. The upstream proxy alone knows where example.org is.
func TestRecipesWork(t *testing.T) {
	k := newKitchen(t)
	for _, r := range recipes(t) {
		if notRun[r.title] {
			continue
		}
		t.Run(r.title, func(t *testing.T) {
			t.Parallel()
			d := k.daemon(t)
			out := k.run(t, d, r)
			if !strings.Contains(out, proof) {
				t.Errorf("it printed %q", out)
			}
			d.awaitSession(t, "a1")
		})
	}
}

// proof is what the page of example.org says, and the commit that its project is at.
const proof = "0123456789abcdef0123456789abcdef01234567"

// kitchen is what the recipes need.
type kitchen struct {
	ca       *authority
	upstream string // host:port
	user     string // for swivel's list
}

func newKitchen(t *testing.T) *kitchen {
	t.Helper()
	k := &kitchen{ca: newAuthority(t)}
	site := http.NewServeMux()
	say := func(path, text string) {
		site.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) })
	}
	say("/{$}", proof)
	say("/project.git/info/refs", proof+"\trefs/heads/main\n")
	say("/project.git/HEAD", "ref: refs/heads/main\n")
	y := newToy(t, "127.0.0.31")
	y.open(t, carryTo(map[string]string{"example.org:443": serveSite(t, "127.0.0.1", k.ca.serverConfig(t, "example.org"), site)}))
	k.upstream = y.hostPort
	hash, err := bcrypt.GenerateFromPassword([]byte("PASSWORD"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	k.user = "scraper:" + string(hash)
	return k
}

func (k *kitchen) daemon(t *testing.T) daemon {
	t.Helper()
	return startDaemon(t, swiveltest.Setup{Lines: []string{k.upstream}, Env: []string{"SWIVEL_USERS=" + k.user}})
}

// run returns what the program prints.
func (k *kitchen) run(t *testing.T, d daemon, r recipe) string {
	t.Helper()
	dir := t.TempDir()
	code := strings.NewReplacer("127.0.0.1:8484", d.Listen, "/usr/bin/chromium", filepath.Join(dir, "chromium")).Replace(r.code)
	file := filepath.Join(dir, "recipe."+r.language)
	writeFile(t, file, code, 0o600)
	cmd := k.interpreter(t, r, dir)
	cmd = exec.CommandContext(t.Context(), cmd.Path, append(cmd.Args[1:], file)...)
	wgetrc := filepath.Join(dir, "wgetrc")
	writeFile(t, wgetrc, "ca_certificate = "+k.ca.file+"\ntries = 1\n", 0o600)
	cmd.Env = append(swiveltest.PlainEnv(), "HOME="+dir, "CURL_CA_BUNDLE="+k.ca.file, "REQUESTS_CA_BUNDLE="+k.ca.file, "SSL_CERT_FILE="+k.ca.file,
		"NODE_EXTRA_CA_CERTS="+k.ca.file, "GIT_SSL_CAINFO="+k.ca.file, "WGETRC="+wgetrc, "NODE_PATH="+nodeModules, "GOCACHE="+goCache(t))
	cmd.WaitDelay = 5 * time.Second
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, complaints.String())
	}
	return string(out)
}

// nodeModules is where npm install -g puts them, on Debian and with Node's own
// packages.
const nodeModules = "/usr/lib/node_modules:/usr/local/lib/node_modules"

// interpreter is what runs a recipe; it fails the test if something is missing.
func (k *kitchen) interpreter(t *testing.T, r recipe, dir string) *exec.Cmd {
	t.Helper()
	switch r.language {
	case "sh":
		program, _, _ := strings.Cut(r.code, " ")
		installed(t, program, program)
		return exec.Command("/bin/sh")
	case "python":
		pythonModule(t, strings.ToLower(r.title))
		return exec.Command(python)
	case "js":
		node := installed(t, "node", "nodejs")
		module := regexp.MustCompile(`require\("(.*?)"\)`).FindStringSubmatch(r.code)[1]
		probe := exec.Command(node, "-e", "require('"+module+"')")
		probe.Env = append(swiveltest.PlainEnv(), "NODE_PATH="+nodeModules)
		if out, err := probe.CombinedOutput(); err != nil {
			t.Fatalf("node cannot load %s (%v: %s), and this test is about it: npm install -g %s", module, err, out, module)
		}
		// A sandbox takes rights that root in a container has not, and the
		// certificate is not in the browser's own store.
		writeFile(t, filepath.Join(dir, "chromium"),
			"#!/bin/sh\nexec '"+installed(t, "chromium", "chromium")+"' --no-sandbox --ignore-certificate-errors \"$@\"\n", 0o700)
		return exec.Command(node)
	case "go":
		return exec.Command(installed(t, "go", "golang"), "run")
	}
	t.Fatalf("nothing runs %q", r.language)
	return nil
}

func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// awaitSession waits for the log of an exchange that belonged to the session of
// the user.
func (d daemon) awaitSession(t *testing.T, id string) {
	t.Helper()
	swiveltest.Eventually(t, 10*time.Second, "an exchange of the session is logged", func() bool {
		return slices.ContainsFunc(d.Lines(t, "exchange"), func(x swiveltest.Line) bool {
			return x.User == "scraper" && x.Session == id && x.Target == "example.org:443" && x.Status == 200
		})
	})
}
