package eventlog

import (
	"bytes"
	stdlog "log"
	"os"
	"strings"
	"testing"
)

func TestWhatLibrariesSayIsALine(t *testing.T) {
	flags := stdlog.Flags()
	defer func() { stdlog.SetOutput(os.Stderr); stdlog.SetFlags(flags) }()
	var out bytes.Buffer
	log, err := New(&out, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	log.TakeLibraries()
	stdlog.Print("http: panic serving 127.0.0.1:1: oh\ngoroutine 7")
	got := out.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, `"level":"warn"`) || !strings.Contains(got, `"text":"http: panic serving 127.0.0.1:1: oh\ngoroutine 7"`) {
		t.Error(got)
	}
}
