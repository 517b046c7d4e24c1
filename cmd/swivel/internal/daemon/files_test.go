package daemon

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"swivel/cmd/swivel/internal/certificate"
	"swivel/cmd/swivel/internal/certificate/certtest"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/eventlog"
)

// put writes a file as htpasswd and others do who change one in place.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) has(user string) func() bool {
	return func() bool { return r.guard.Users().Has(user) }
}

func TestChangedUsersFileIsReadWithoutBeingTold(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	file := filepath.Join(t.TempDir(), "users")
	r.cfg.UsersFile = file
	put(t, file, "alice"+hash+"\n")
	r.start()
	put(t, file, "alice"+hash+"\nbob"+hash+"\n")
	r.eventually("a file written in place is read", r.has("bob"))
	put(t, file+".new", "carol"+hash+"\n")
	r.rename(file+".new", file)
	r.eventually("a file that was replaced is read", r.has("carol"))
	if r.guard.Users().Len() != 1 {
		t.Error("who is gone may still come in")
	}
	put(t, file, "carol:s3cret\n")
	r.eventually("a mistake is told", func() bool { return len(r.log.lines("reload of the users refused")) == 1 })
	put(t, file, "")
	r.eventually("nobody is no user", func() bool { return len(r.log.lines("reload of the users refused")) == 2 })
	if !r.guard.Required() || !r.has("carol")() || strings.Contains(r.log.String(), "s3cret") {
		t.Error("the old users do not stay")
	}
	r.write("192.0.2.1:1", "192.0.2.1:2")
	r.eventually("lists are watched beside", r.members(2))
	if users, lists := len(r.log.lines("users reloaded")), len(r.log.lines("reloaded")); users != 2 || lists != 1 {
		t.Errorf("%d reloads of users, %d of lists", users, lists)
	}
}

func TestUsersFileThatAReloadNamesIsWatched(t *testing.T) {
	var next config.Config
	r := reconfigured(t, &next)
	file := filepath.Join(t.TempDir(), "users")
	put(t, file, "alice"+hash+"\n")
	next.UsersFile = file
	if _, err := r.Reload(); err != nil || !r.has("alice")() {
		t.Fatalf("%v", err)
	}
	put(t, file, "bob"+hash+"\n")
	r.eventually("its change is read", r.has("bob"))
}

// newPair is a certificate and its key in PEM.
func newPair(t *testing.T, name string, until time.Time) (cert, key string) {
	c, k := certtest.Pair(t, name, time.Time{}, until)
	return string(c), string(k)
}

// putPair writes a certificate and its key into a folder.
func putPair(t *testing.T, dir, name string) {
	t.Helper()
	cert, key := newPair(t, name, time.Now().Add(time.Hour))
	put(t, filepath.Join(dir, "tls.crt"), cert)
	put(t, filepath.Join(dir, "tls.key"), key)
}

// shows says whether clients are shown the certificate of the name.
func (r *rig) shows(name string) func() bool {
	return func() bool {
		conn, err := tls.Dial("tcp", r.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			r.t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName == name
	}
}

func (r *rig) serveTLS(dir string) {
	r.cfg.TLSCert, r.cfg.TLSKey = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
}

// Kubernetes changes the folder that a link leads to as a whole, certbot replaces
// the links, acme.sh writes the files.
func TestChangedCertificateIsShownWithoutBeingTold(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	dir := t.TempDir()
	for _, version := range []string{"v1", "v2"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		putPair(t, filepath.Join(dir, version), version)
	}
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("v1", "..data")
	link("..data/tls.crt", "tls.crt")
	link("..data/tls.key", "tls.key")
	r.serveTLS(dir)
	r.start()
	if !r.shows("v1")() {
		t.Fatal("another certificate is shown")
	}
	link("v2", "..next")
	r.rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data"))
	r.eventually("the other folder's is shown", r.shows("v2"))
	for _, file := range []string{"tls.key", "tls.crt"} {
		link("v1/"+file, "next")
		r.rename(filepath.Join(dir, "next"), filepath.Join(dir, file))
	}
	r.eventually("that behind the other links is shown", r.shows("v1"))
	putPair(t, filepath.Join(dir, "v1"), "written in place")
	r.eventually("the new one is shown", r.shows("written in place"))
	if n := len(r.log.lines("certificate reloaded")); n < 3 || n > 4 || len(r.log.lines("reloaded")) > 0 {
		t.Errorf("%d reloads", n)
	}
}

func TestBadCertificateKeepsTheOldAndIsToldOnce(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	dir := t.TempDir()
	putPair(t, dir, "old")
	r.serveTLS(dir)
	r.start()
	const refused = "reload of the certificate refused: the old one stays"
	_, other := newPair(t, "other", time.Now().Add(time.Hour))
	put(t, r.cfg.TLSKey, other)
	r.eventually("it is refused", func() bool { return len(r.log.lines(refused)) == 1 })
	r.write("192.0.2.1:1", "192.0.2.1:2")
	r.eventually("lists are watched beside", r.members(2))
	if !r.shows("old")() || len(r.log.lines(refused)) != 1 {
		t.Errorf("it was refused %d times", len(r.log.lines(refused)))
	}
	if _, err := r.Reload(); err == nil || !strings.HasSuffix(err.Error(), ": the old certificate stays") {
		t.Errorf("%v", err)
	}
	putPair(t, dir, "new")
	r.eventually("the good one is shown", r.shows("new"))
}

func TestReloadReadsTheCertificateAndNamesOtherFilesForARestart(t *testing.T) {
	var next config.Config
	r := newRig(t, "192.0.2.1:1")
	dir := t.TempDir()
	cert, key := newPair(t, "old", time.Now().Add(-time.Hour))
	r.serveTLS(dir)
	put(t, r.cfg.TLSCert, cert)
	put(t, r.cfg.TLSKey, key)
	d, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	next = r.cfg
	d.ReadConfigWith(func() (config.Config, error) { return next, nil })
	r.runs(d)
	if n := len(r.log.lines("tls_cert: the certificate expired on ")); n != 1 {
		t.Errorf("its end is told %d times", n)
	}
	putPair(t, dir, "new")
	next.TLSCert = "elsewhere"
	if done, err := r.Reload(); err != nil || !r.shows("new")() || !slices.Equal(done.RestartNeeded, []string{"tls_cert"}) {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestCertificateThatNobodyRenewsIsToldDaily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, now := t.TempDir(), time.Now()
		cert, key := certtest.Pair(t, "old", now, now.Add(50*24*time.Hour))
		put(t, filepath.Join(dir, "tls.crt"), string(cert))
		put(t, filepath.Join(dir, "tls.key"), string(key))
		var lines logBuffer
		log, err := eventlog.New(&lines, "json", "info")
		if err != nil {
			t.Fatal(err)
		}
		shown, err := certificate.Open(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
		if err != nil {
			t.Fatal(err)
		}
		d := &Daemon{log: log, shown: shown}
		go d.watchCertificate(t.Context())
		time.Sleep(45*24*time.Hour + time.Hour)
		if n := len(lines.lines("tls_cert: ")); n != 0 {
			t.Errorf("told %d times of one that has five days left", n)
		}
		time.Sleep(10 * 24 * time.Hour)
		if soon, over := len(lines.lines("tls_cert: the certificate expires on ")), len(lines.lines("tls_cert: the certificate expired on ")); soon != 5 || over != 5 {
			t.Errorf("told %d times before it and %d times behind it", soon, over)
		}
	})
}
