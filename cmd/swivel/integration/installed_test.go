package integration

import (
	"os/exec"
	"testing"
)

// sbin is where Debian keeps daemons, which is not in every user's PATH.
const sbin = "/usr/sbin/"

// installed returns the path of a program, and fails the test with what to do
// when it is not there.
func installed(t testing.TB, name, debianPackage string) string {
	t.Helper()
	for _, candidate := range []string{name, sbin + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	t.Fatalf("%s is missing, and this test is about it: apt-get install -y --no-install-recommends %s", name, debianPackage)
	return ""
}

// python is Debian's own: its packages put modules nowhere else.
const python = "/usr/bin/python3"

// pythonModule makes sure that Debian's Python has the module.
func pythonModule(t testing.TB, module string) {
	t.Helper()
	if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
		t.Fatalf("%s cannot import %s (%v), and this test is about it: apt-get install -y --no-install-recommends python3-%s",
			python, module, err, module)
	}
}
