package leaktest

import (
	"os"
	"strings"
	"testing"
	"time"
)

// recorder is a test of which the end is played.
type recorder struct {
	testing.TB
	cleanup func()
	told    string
}

func (r *recorder) Cleanup(f func())               { r.cleanup = f }
func (r *recorder) Errorf(format string, _ ...any) { r.told = format }
func (r *recorder) Failed() bool                   { return r.told != "" }

func TestWhatIsLeftBehindIsTold(t *testing.T) {
	for name, leave := range map[string]func() (end func()){
		"nothing": func() func() { return func() {} },
		"goroutines": func() func() { // more than may have ended since they were counted
			stop := make(chan struct{})
			for range 10 {
				go func() { <-stop }()
			}
			return func() { close(stop) }
		},
		"a descriptor": func() func() {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			return func() { _, _ = r.Close(), w.Close() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			Watch(t) // what is left is ended behind the look
			r := &recorder{TB: t}
			watch(r, 20*time.Millisecond)
			end := leave()
			r.cleanup()
			end()
			if told := strings.HasPrefix(r.told, "left behind: "); told == (name == "nothing") {
				t.Errorf("it says %q", r.told)
			}
		})
	}
}

func TestWhatGoesInTimeIsNotTold(t *testing.T) {
	r := &recorder{TB: t}
	watch(r, 10*time.Second)
	stop := make(chan struct{})
	go func() { <-stop }()
	time.AfterFunc(20*time.Millisecond, func() { close(stop) })
	if r.cleanup(); r.told != "" {
		t.Errorf("it says %q", r.told)
	}
}
