package integration

import (
	"os"
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

func TestMain(m *testing.M) { os.Exit(swiveltest.Run(m)) }
