package integration

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// curlWith runs curl, with what all of its checks have in common.
func (s *stage) curlWith(t *testing.T, input string, args ...string) string {
	t.Helper()
	curl := installed(t, "curl", "curl")
	return runClient(t, input, curl, append([]string{"-sS", "--fail", "--max-time", "20", "--noproxy", "", "--cacert", s.o.ca.file}, args...)...)
}

func (s *stage) curl(t *testing.T, base string, args ...string) {
	if got := s.curlWith(t, "", append(args, "--proxy", s.proxy.String(), base+"/ip")...); strings.TrimSpace(got) != s.source {
		t.Errorf("asked from %q, want %q", got, s.source)
	}
}

func checkCurlKeeps(t *testing.T, s *stage) {
	for _, base := range []string{s.o.http, s.o.https} {
		got := s.curlWith(t, "", "--proxy", s.proxy.String(), "-w", "%{num_connects} ", "-o", os.DevNull, base+"/ip", "-o", os.DevNull, base+"/ip")
		if got != "1 0 " {
			t.Errorf("%s: connections made for each request: %q", base, got)
		}
	}
}

// checkCurlExpects: curl begins with the body when it is told so, or after ten
// seconds in vain.
func checkCurlExpects(t *testing.T, s *stage) {
	upload := strings.Repeat("swivel ", 300_000)
	for _, base := range []string{s.o.http, s.o.https} {
		began := time.Now()
		got := s.curlWith(t, upload, "--proxy", s.proxy.String(), "-H", "Expect: 100-continue", "--expect100-timeout", "10", "-T", "-", base+"/echo")
		if took := time.Since(began); got != upload || took > 9*time.Second {
			t.Errorf("%s: %d of %d bytes came back, after %v", base, len(got), len(upload), took)
		}
	}
}

func checkCurlSOCKS(t *testing.T, s *stage) {
	proxy := s.proxy
	proxy.Scheme = "socks5h"
	for _, base := range []string{s.o.http, s.o.https} {
		if got := s.curlWith(t, "", "--proxy", proxy.String(), base+"/ip"); strings.TrimSpace(got) != s.source {
			t.Errorf("%s: asked from %q, want %q", base, got, s.source)
		}
	}
}

func (s *stage) wget(t *testing.T, base string) {
	bare := s.proxy
	bare.User = nil
	args := []string{"--quiet", "--tries=1", "--timeout=20", "--output-document=-", "--ca-certificate=" + s.o.ca.file,
		"-e", "use_proxy=yes", "-e", "http_proxy=" + bare.String(), "-e", "https_proxy=" + bare.String()}
	if password, ok := s.proxy.User.Password(); ok {
		args = append(args, "--proxy-user="+s.proxy.User.Username(), "--proxy-password="+password)
	}
	if got := runClient(t, "", installed(t, "wget", "wget"), append(args, base+"/ip", base+"/ip")...); got != s.source+"\n"+s.source+"\n" {
		t.Errorf("asked from %q, want %q", got, s.source)
	}
}

// newRepository is an empty git repository that everybody may push to.
func newRepository(t *testing.T) http.Handler {
	t.Helper()
	git, root := installed(t, "git", "git"), t.TempDir()
	runClient(t, "", git, "init", "--quiet", "--bare", filepath.Join(root, "repository.git"))
	runClient(t, "", git, "-C", filepath.Join(root, "repository.git"), "config", "http.receivepack", "true")
	programs := strings.TrimSpace(runClient(t, "", git, "--exec-path"))
	backend := &cgi.Handler{Path: filepath.Join(programs, "git-http-backend"), Root: "/", Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // CGI knows no chunks
		if err != nil {
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		backend.ServeHTTP(w, r)
	})
}

// checkGit pushes what is too large for one piece, and gets it back.
func checkGit(t *testing.T, s *stage, base string) {
	git, dir := installed(t, "git", "git"), t.TempDir()
	run := func(folder string, args ...string) string {
		return runClient(t, "", git, append([]string{"-C", folder, "-c", "http.proxy=" + s.proxy.String(), "-c", "http.sslCAInfo=" + s.o.ca.file,
			"-c", "user.name=tester", "-c", "user.email=tester@swivel.test"}, args...)...)
	}
	branch := "b" + strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
	mine, theirs := filepath.Join(dir, "mine"), filepath.Join(dir, "theirs")
	run(dir, "init", "--quiet", "--initial-branch="+branch, mine)
	random := make([]byte, 3<<20)
	for i := range random {
		random[i] = byte(i * i >> 7)
	}
	writeFile(t, filepath.Join(mine, "file"), string(random), 0o600)
	run(mine, "-c", "core.compression=0", "add", "file")
	run(mine, "commit", "--quiet", "--message=one")
	run(mine, "-c", "core.compression=0", "push", "--quiet", base+"/repository.git", branch)
	run(dir, "clone", "--quiet", "--branch="+branch, base+"/repository.git", theirs)
	if got, err := os.ReadFile(filepath.Join(theirs, "file")); err != nil || !bytes.Equal(got, random) {
		t.Errorf("%d of %d bytes came back: %v", len(got), len(random), err)
	}
}

// newRegistry is one for npm that has one package, called left.
func newRegistry(t *testing.T) http.Handler {
	t.Helper()
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	files := tar.NewWriter(zip)
	const description = `{"name":"left","version":"1.0.0"}`
	_ = files.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(description))})
	_, _ = files.Write([]byte(description))
	_ = files.Close()
	_ = zip.Close()
	sum := sha512.Sum512(archive.Bytes())
	registry := http.NewServeMux()
	registry.HandleFunc("GET /registry/left", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"name":"left","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"left","version":"1.0.0","dist":{"tarball":"https://%s/registry/left.tgz","integrity":"sha512-%s"}}}}`,
			r.Host, base64.StdEncoding.EncodeToString(sum[:]))
	})
	registry.HandleFunc("GET /registry/left.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) })
	return registry
}

func checkNPM(t *testing.T, s *stage) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "package.json"), "{}", 0o600)
	proxy := s.proxy.String()
	cmd := exec.CommandContext(t.Context(), installed(t, "npm", "npm"), "install", "left", "--no-audit", "--no-fund", "--no-update-notifier",
		"--fetch-retries=0", "--registry", s.o.https+"/registry/", "--proxy", proxy, "--https-proxy", proxy, "--cafile", s.o.ca.file)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(swiveltest.PlainEnv(), "HOME="+dir), 5*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "left", "package.json")); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
