package auth

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// entry is a user as an entry has it, at the cost that is checked soonest.
func entry(t testing.TB, name, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + string(hash)
}

func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestUsersComeFromEntriesAndAFile(t *testing.T) {
	bob := strings.Replace(entry(t, "bob", "s3cret"), "$2a$", "$2y$", 1) // as htpasswd writes it
	u, err := Read([]string{entry(t, "alice", "a")}, write(t, "\ufeff# people\r\n\r\n"+bob+" \r\n\t"+entry(t, "bob-country", "c")))
	if err != nil {
		t.Fatal(err)
	}
	if u.Len() != 3 || !u.Has("bob-country") || u.Has("bob-") {
		t.Errorf("%d users", u.Len())
	}
	g := NewGuard(u)
	for _, c := range []struct {
		name, password string
		want           error
	}{
		{"alice", "a", nil}, {"bob", "s3cret", nil}, {"bob-country", "c", nil},
		{"alice", "s3cret", ErrWrong}, {"bob", "", ErrWrong}, {"Bob", "s3cret", ErrWrong}, {"", "", ErrWrong}, {"eve", "a", ErrWrong},
	} {
		for range 2 { // the second answer is a remembered one
			if got := g.Check(c.name, c.password); got != c.want {
				t.Errorf("%q with %q: %v, want %v", c.name, c.password, got, c.want)
			}
		}
	}
}

func TestEveryProblemIsNamedAndNothingOfItIsShown(t *testing.T) {
	good := entry(t, "alice", "a")
	file := write(t, good+"\nbob:$apr1$s3cret$s3cret\n\ncarol:{SHA}s3cret\ndave:s3cret\ns3cret\n")
	_, err := Read([]string{good, "eve:s3cret", ":" + good, strings.Replace(good, "$04$", "$31$", 1)}, file)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"users: entry 2: want a bcrypt hash", "users: entry 3: the name is empty", "users: entry 4: a user of this name",
		"line 1: a user of this name", "line 2: want a bcrypt hash", "line 4: want a bcrypt hash", "line 5: want a bcrypt hash", "line 6: want NAME:HASH",
		"htpasswd -nB",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "$2a$") {
		t.Errorf("the error shows a password or a hash:\n%v", err)
	}
}

func TestHashesThatCannotBeChecked(t *testing.T) {
	good := entry(t, "alice", "a")
	for name, bad := range map[string]string{
		"cost of a day":      strings.Replace(good, "$04$", "$31$", 1),
		"cost below bcrypt":  strings.Replace(good, "$04$", "$03$", 1),
		"faulty variant":     strings.Replace(good, "$2a$", "$2x$", 1),
		"cut short":          good[:len(good)-1],
		"text behind":        good + ":comment",
		"blank behind":       good + " ",
		"control in name":    "ali\x00ce" + good[5:],
		"name in no charset": "ali\xffce" + good[5:],
	} {
		if _, err := Read([]string{bad}, ""); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestANamedPipeInTheFilesPlaceWasWaitedForForEver(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "users")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(nil, pipe); err == nil || !strings.Contains(err.Error(), "holds no user") {
		t.Error(err)
	}
}

func TestAFileWithoutUsersLetsNobodyAndNotEverybodyIn(t *testing.T) {
	for name, file := range map[string]string{
		"empty":     write(t, ""),
		"comments":  write(t, "# nobody yet\n\n"),
		"missing":   filepath.Join(t.TempDir(), "missing"),
		"directory": t.TempDir(),
	} {
		_, err := Read(nil, file)
		if err == nil || !strings.HasPrefix(err.Error(), "users_file: ") || strings.Contains(err.Error(), "open ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
