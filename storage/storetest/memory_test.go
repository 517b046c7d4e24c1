package storetest_test

import (
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, now func() time.Time) storage.Store {
		return storetest.NewMemory(now)
	})
}
