package daemon

import "testing"

func TestGuessesDoNotFillTheLog(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.start()
	for range 1000 {
		r.WrongToken("192.0.2.1:5")
	}
	lines := r.log.lines("the admin API was shown a wrong token")
	if len(lines) != 1 || lines[0]["client"] != "192.0.2.1:5" || lines[0]["level"] != "warn" {
		t.Errorf("%v", lines)
	}
}
