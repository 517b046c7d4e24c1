package redis_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/redis"
	"swivel/storage/redis/redistest"
	"swivel/storage/storetest"
)

func TestServerKeepsTheContract(t *testing.T) {
	server := redistest.Start(t)
	var stores atomic.Int64
	storetest.Run(t, func(t *testing.T, now func() time.Time) storage.Store {
		client, err := redis.OpenPatient(fmt.Sprintf("%s#store-%d", server.URL(), stores.Add(1)))
		if err != nil {
			t.Fatal(err)
		}
		return client.Store(now)
	})
}

func TestServerDoesAsMemoryDoes(t *testing.T) {
	server := redistest.Start(t)
	var stores atomic.Int64
	storetest.Compare(t, func(t *testing.T, now func() time.Time) storage.Store {
		client, err := redis.OpenPatient(fmt.Sprintf("%s#compared-%d", server.URL(), stores.Add(1)))
		if err != nil {
			t.Fatal(err)
		}
		return client.Store(now)
	})
}
