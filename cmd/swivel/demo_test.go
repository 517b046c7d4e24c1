package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/eventlog"
)

func TestDefaultsOfTheDemoYieldToFileEnvironmentAndFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "swivel.yaml")
	if err := os.WriteFile(file, []byte("breaker:\n  open_timeout: 7s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	cfg, err := (&settings{}).load(streams{env: none}, demoDefaults(), nil)
	if err != nil || cfg.DB != ":memory:" || cfg.Log.Format != "console" || cfg.Breaker.OpenTimeout != config.Duration(10*time.Second) {
		t.Errorf("alone: %+v, %v", cfg, err)
	}
	db := "flag.db"
	env := func(name string) (string, bool) { return "json", name == "SWIVEL_LOG_FORMAT" }
	cfg, err = (&settings{Config: file, DB: &db}).load(streams{env: env}, demoDefaults(), nil)
	if err != nil || cfg.DB != db || cfg.Log.Format != "json" || cfg.Breaker.OpenTimeout != config.Duration(7*time.Second) {
		t.Errorf("overridden: %+v, %v", cfg, err)
	}
}

func TestDemoSaysWhatToTry(t *testing.T) {
	cfg := demoDefaults()
	cfg.Listen, cfg.Admin = "127.0.0.1:0", "off"
	var out, errOut bytes.Buffer
	log, err := eventlog.New(&errOut, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopAtText := writerFunc(func(p []byte) (int, error) { cancel(); return out.Write(p) })
	if err := serveDemo(ctx, cfg, log, streams{out: stopAtText}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"dead ", "flaky ", "slow ", "good ", "better ", "http://swivel.test/\n", "https://swivel.test/\n", "after 10s"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "/api/") {
		t.Errorf("an admin API that is off is offered in\n%s", text)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
