package swiveltest

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestLinesLeaveOutWhatIsNotWhole(t *testing.T) {
	log := `{"message":"exchange","took_ms":1500,"time":"2024-05-06T07:08:09.000Z","attempts":[{"proxy_name":"a"}]}
WARNING: "exchange" is a word here
{"message":"reloaded","added":2}
{"message":"exchange","took_`
	d := &Daemon{Child: Start(t, "printf", exec.Command("printf", "%s", log))}
	d.Wait(t, 10*time.Second)
	if all := d.Lines(t, ""); len(all) != 2 || all[1].Added != 2 {
		t.Errorf("%+v", all)
	}
	lines := d.Lines(t, "exchange")
	if len(lines) != 1 || lines[0].Attempts[0].Name != "a" || !lines[0].Began().Equal(time.Date(2024, 5, 6, 7, 8, 7, 5e8, time.UTC)) {
		t.Errorf("%+v", lines)
	}
}

func TestCrashesAreFoundInALog(t *testing.T) {
	for _, text := range []string{
		"{}\npanic: no\n\ngoroutine 1 [running]:\n", "fatal error: all goroutines are asleep\n", "{}\nWARNING: DATA RACE\n",
		`{"message":"a bug in swivel ended this client's connection; please report it"}`,
	} {
		if !crash.MatchString(text) {
			t.Errorf("not found: %s", text)
		}
	}
	if text := `{"message":"exchange","target":"panic: fatal error: x"}`; crash.MatchString(text) {
		t.Errorf("found: %s", text)
	}
}

func TestLongOutputIsShownWithoutWhatWentWell(t *testing.T) {
	served := `{"message":"exchange","status":200}` + "\n"
	refused := `{"message":"exchange","status":502,"code":"no_proxy"}` + "\n"
	if short := served + refused; shown(short) != short {
		t.Errorf("%q", shown(short))
	}
	text := shown(refused + strings.Repeat(served, 1000) + "panic: at last\n")
	if !strings.HasPrefix(text, refused+"panic: at last\n") || !strings.HasSuffix(text, served+"panic: at last\n") || len(text) > 3000 {
		t.Errorf("%d bytes: %.200q", len(text), text)
	}
}
