package simulate

import (
	"fmt"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/redis"
	"swivel/storage/redis/redistest"
)

// What a call takes of the processor of a server, as TestServerTakes measured it;
// the model of the hub reckons with it. See docs/simulation.md.
const (
	perCall     = 20 * time.Microsecond
	perTold     = 14 * time.Microsecond
	perAnswered = 1500 * time.Nanosecond
	perWish     = 1600 * time.Nanosecond
)

// TestServerTakes prints what a real server takes for each kind of work.
func TestServerTakes(t *testing.T) {
	if !*full {
		t.Skip("it is measured in the full form")
	}
	server := redistest.Start(t)
	client, err := redis.Open(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	m := &meter{t: t, server: server, hub: client.Hub(t.Context())}
	const many = 64
	empty := m.per(5000, func(int) storage.Sync { return m.sync() })
	told := m.per(500, func(i int) storage.Sync {
		s := m.sync()
		for j := range many {
			s.Known = append(s.Known, storage.Known{
				ProxyID: fmt.Sprintf("%016x", (i*many+j)%5000), Succeeded: true, LastSuccess: m.at - 5_000_000,
				Failures: []storage.Miss{{At: m.at, By: s.Instance}}, Window: []storage.Count{{At: m.at - m.at%5_000_000, Failures: 1}},
			})
		}
		return s
	})
	answered := m.per(500, func(int) storage.Sync {
		s := m.sync()
		s.Instance, s.Cursor, s.Limit = "b", 1, 256
		return s
	})
	wished := m.per(2000, func(int) storage.Sync {
		s := m.sync()
		for j := range many {
			s.Leases = append(s.Leases, storage.Wish{ProxyID: fmt.Sprintf("%016x", j), Stamp: m.at})
		}
		return s
	})
	t.Logf("a server's processor: %v a call, %v a proxy told, %v a proxy returned, %v a wish for a lease", empty,
		(told-empty)/many, (answered-empty)/256, (wished-empty)/many)
}

// meter calls a server and reads its processor's clock.
type meter struct {
	t      testing.TB
	server *redistest.Server
	hub    *redis.Hub
	at     storage.Moment
	life   string
	cursor uint64
}

func (m *meter) sync() storage.Sync {
	m.at += 1000
	return storage.Sync{Instance: "a", Now: m.at, Salt: "00", Life: m.life, Cursor: m.cursor, Limit: 1, Gap: 50, LeaseFor: 5000}
}

// per returns what one of so many calls takes.
func (m *meter) per(calls int, what func(i int) storage.Sync) time.Duration {
	m.t.Helper()
	m.at = max(m.at, storage.Moment(start.UnixMicro()))
	before := m.used()
	for i := range calls {
		answer, err := m.hub.Sync(m.t.Context(), what(i))
		if err != nil {
			m.t.Fatal(err)
		}
		m.life, m.cursor = answer.Life, answer.Cursor
	}
	return (m.used() - before) / time.Duration(calls)
}

func (m *meter) used() time.Duration {
	text := m.server.Do("EVAL", `local i = redis.call('INFO', 'cpu')
		return redis.status_reply(i:match('used_cpu_sys:([%d.]+)') .. ' ' .. i:match('used_cpu_user:([%d.]+)'))`, "0")
	var sys, user float64
	if _, err := fmt.Sscanf(text, "+%f %f", &sys, &user); err != nil {
		m.t.Fatalf("%q: %v", text, err)
	}
	return time.Duration((sys + user) * float64(time.Second))
}
