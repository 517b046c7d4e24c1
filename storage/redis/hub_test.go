package redis_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"swivel/storage"
	"swivel/storage/redis"
	"swivel/storage/redis/redistest"
	"swivel/storage/storetest"
)

var fleets atomic.Int64

// newHub returns a hub of a new fleet.
func newHub(t testing.TB, server *redistest.Server) *redis.Hub {
	t.Helper()
	return hubOf(t, fmt.Sprintf("%s#fleet-%d", server.URL(), fleets.Add(1)), redis.OpenPatient)
}

// open returns a hub that waits as long as a daemon does.
func open(t testing.TB, url string) *redis.Hub { return hubOf(t, url, redis.Open) }

func hubOf(t testing.TB, url string, open func(string) (*redis.Client, error)) *redis.Hub {
	t.Helper()
	client, err := open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client.Hub(t.Context())
}

const second = storage.Moment(1_000_000)

var epoch = storage.Moment(storetest.Epoch.UnixMicro())

// TestServerMergesLikeTheReference: the script and the Go code are told the same
// things in the same order, and have to answer the same.
func TestServerMergesLikeTheReference(t *testing.T) {
	server := redistest.Start(t)
	rapid.Check(t, func(rt *rapid.T) {
		client, err := redis.OpenPatient(fmt.Sprintf("%s#model-%d", server.URL(), fleets.Add(1)))
		if err != nil {
			rt.Fatal(err)
		}
		defer client.Close()
		hubs := [2]storage.Hub{client.Hub(t.Context()), storetest.NewHub()}
		var life [2]string
		var cursor [3][2]uint64
		now := epoch
		for range rapid.IntRange(1, 25).Draw(rt, "calls") {
			now += storage.Moment(rapid.IntRange(0, 3).Draw(rt, "passed")) * second
			i := rapid.IntRange(0, 2).Draw(rt, "instance")
			s := drawSync(rt, i, now)
			var answers [2]storage.Synced
			for j, hub := range hubs {
				s.Life, s.Cursor = life[j], cursor[i][j]
				if answers[j], err = hub.Sync(t.Context(), s); err != nil {
					rt.Fatal(err)
				}
				life[j], cursor[i][j] = answers[j].Life, answers[j].Cursor
				answers[j].Life, answers[j].Clock = "", 0
				slices.SortFunc(answers[j].Items, func(a, b storage.Item) int { return cmp.Compare(a.Key, b.Key) })
			}
			if diff := gocmp.Diff(answers[1], answers[0]); diff != "" {
				rt.Fatalf("the server answers otherwise (-want +got):\n%s", diff)
			}
		}
	})
}

func drawSync(t *rapid.T, instance int, now storage.Moment) storage.Sync {
	ids := rapid.SampledFrom([]string{"p1", "p2", "p3"})
	s := storage.Sync{
		Instance: fmt.Sprint("i", instance), Now: now, Salt: "00", Limit: rapid.IntRange(1, 4).Draw(t, "limit"),
		LeaseFor: 1_000_000, Gap: 1,
	}
	moments := func(label string) storage.Moment {
		return epoch + storage.Moment(rapid.IntRange(0, 6).Draw(t, label))*second
	}
	for range rapid.IntRange(0, 2).Draw(t, "told") {
		k := storage.Known{
			ProxyID: ids.Draw(t, "proxy"), Succeeded: rapid.Bool().Draw(t, "succeeded"),
			LastSuccess: rapid.SampledFrom([]storage.Moment{0, epoch, epoch + 3*second}).Draw(t, "success"),
		}
		if rapid.Bool().Draw(t, "moved") {
			k.Stamp, k.Until = moments("stamp"), moments("until")
			k.State = rapid.SampledFrom([]string{"closed", "open", "half_open"}).Draw(t, "state")
			k.Cause, k.OpensInRow, k.ProbeWins = "run", rapid.IntRange(0, 3).Draw(t, "opens"), rapid.IntRange(0, 1).Draw(t, "wins")
		}
		for range rapid.SampledFrom([]int{0, 1, 2, 40}).Draw(t, "misses") {
			k.Failures = append(k.Failures, storage.Miss{At: epoch + storage.Moment(rapid.IntRange(0, 8_000_000).Draw(t, "at")), By: s.Instance})
		}
		for i := range rapid.SampledFrom([]int{0, 1, 2, 12}).Draw(t, "counts") {
			k.Window = append(k.Window, storage.Count{At: moments("part") + storage.Moment(i), Successes: 1, Failures: i})
		}
		s.Known = append(s.Known, k)
	}
	for range rapid.IntRange(0, 2).Draw(t, "items") {
		s.Items = append(s.Items, storage.Item{
			Key: "pause:" + ids.Draw(t, "item"), Stamp: moments("item stamp"), TTL: 1000,
			Value: rapid.SampledFrom([]string{"", "é\"\n", "x"}).Draw(t, "value"),
		})
	}
	if rapid.Bool().Draw(t, "wish") {
		s.Leases = []storage.Wish{{ProxyID: ids.Draw(t, "wished"), Stamp: rapid.SampledFrom([]storage.Moment{0, epoch + 6*second}).Draw(t, "known")}}
	}
	if rapid.Bool().Draw(t, "release") {
		s.Released = []string{ids.Draw(t, "released")}
	}
	return s
}

func sync(t testing.TB, h storage.Hub, s storage.Sync) storage.Synced {
	t.Helper()
	s.Now, s.Limit, s.Gap = storage.Moment(time.Now().UnixMicro()), 100, max(s.Gap, 1)
	if s.LeaseFor == 0 {
		s.LeaseFor = 1000
	}
	answer, err := h.Sync(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestLeaseOfADeadHolderLapses(t *testing.T) {
	h := newHub(t, redistest.Start(t))
	wish := []storage.Wish{{ProxyID: "p"}}
	if got := sync(t, h, storage.Sync{Instance: "a", Leases: wish, LeaseFor: 300}).Leases; len(got) != 1 {
		t.Fatalf("the first is not given it: %q", got)
	}
	if got := sync(t, h, storage.Sync{Instance: "b", Leases: wish, Released: []string{"p"}}).Leases; len(got) != 0 {
		t.Fatal("another one has it too, or could release it")
	}
	for begin := time.Now(); len(sync(t, h, storage.Sync{Instance: "b", Leases: wish}).Leases) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 5*time.Second {
			t.Fatal("it does not lapse")
		}
	}
}

func TestWhoseSaltIsAnotherIsTold(t *testing.T) {
	h := newHub(t, redistest.Start(t))
	sync(t, h, storage.Sync{Instance: "a", Salt: "0a"})
	if _, err := h.Sync(t.Context(), storage.Sync{Instance: "b", Salt: "0b", Limit: 1}); !errors.Is(err, redis.ErrSalt) {
		t.Errorf("%v", err)
	}
}

// In a failover the last writes may be lost, and with them what an instance takes
// for told.
func TestChangesLostInAFailoverAreAskedForAgain(t *testing.T) {
	server := redistest.Start(t)
	h := hubOf(t, server.URL(), redis.OpenPatient)
	tell := func(s storage.Sync, ids ...string) storage.Synced {
		for _, id := range ids {
			s.Known = append(s.Known, storage.Known{ProxyID: id, Stamp: epoch, State: "open"})
		}
		return sync(t, h, s)
	}
	first := tell(storage.Sync{Instance: "a"}, "p", "q", "r")
	if again := tell(storage.Sync{Instance: "a", Life: first.Life, Cursor: first.Cursor}); again.Life != first.Life {
		t.Fatal("a new life without a reason")
	}
	server.Do("HINCRBY", "swivel:meta", "version", "-2")
	after := tell(storage.Sync{Instance: "a", Life: first.Life, Cursor: first.Cursor})
	if after.Life == first.Life || len(after.Known) == 0 || after.Cursor >= first.Cursor {
		t.Errorf("%+v, want another life, and what is left", after)
	}
	if other := tell(storage.Sync{Instance: "b", Life: first.Life, Cursor: 1}); other.Life != after.Life {
		t.Error("who had seen less is not told")
	}
}

func TestOthersAreNudged(t *testing.T) {
	server := redistest.Start(t)
	url := fmt.Sprintf("%s#nudged", server.URL())
	a, b := hubOf(t, url, redis.OpenPatient), hubOf(t, url, redis.OpenPatient)
	// The subscriptions may take a moment.
	for i := range 500 {
		sync(t, a, storage.Sync{Instance: "a", Items: []storage.Item{{Key: "x", Stamp: epoch + storage.Moment(i), TTL: 60}}})
		select {
		case <-b.Nudges():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Error("nobody was nudged")
}

// What is away or cannot be written is an error in words of our own, within a
// second and a little.
func TestServerThatCannotBeUsedIsSaidToBe(t *testing.T) {
	full := redistest.Start(t, "--maxmemory", "1", "--maxmemory-policy", "noeviction")
	replica := redistest.Start(t, "--replicaof", "127.0.0.1 1")
	gone, stopped := redistest.Start(t), redistest.Start(t)
	gone.Kill()
	stopped.Stop()
	locked := redistest.Start(t, "--requirepass", "s3cret")
	for name, c := range map[string]struct{ url, want string }{
		"full":           {full.URL(), "OOM"},
		"replica":        {replica.URL(), "READONLY"},
		"gone":           {gone.URL(), "refused"},
		"stopped":        {stopped.URL(), "no answer within 1s"},
		"wrong password": {"redis://:wr0ng@" + locked.Addr(), "WRONGPASS"},
	} {
		begin := time.Now()
		_, err := open(t, c.url).Sync(t.Context(), storage.Sync{Instance: "a", Limit: 1, Now: epoch, Gap: 1})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	if _, err := open(t, "redis://:s3cret@"+locked.Addr()).Sync(t.Context(), storage.Sync{Instance: "a", Limit: 1, Now: epoch, Gap: 1}); err != nil {
		t.Errorf("with the password: %v", err)
	}
}

func TestStrangeAddressIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, address := range []string{"", "s3cret", "redis://", "http://h:1", "redis://:s3cret@h:99999x", "redis://:s3cret@h/0?nope=1", "redis://:s3cret@h#a b", "unix://", "redis://u:s3cret@h:1/x", "redis://:s3cret@h:99999", "redis://:s3cret@h:1/-1"} {
		if err := redis.Check(address); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"redis://h", "rediss://u:p@h:1/3#scrapers", "unix:///run/redis.sock?db=2", "redis://[::1]:6379"} {
		if err := redis.Check(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestKeysLapse: nothing stays for ever that nobody uses.
func TestKeysLapse(t *testing.T) {
	server := redistest.Start(t)
	h := newHub(t, server)
	sync(t, h, storage.Sync{Instance: "a", Gap: 10_000, LeaseFor: 10_000, Leases: []storage.Wish{{ProxyID: "p"}}, Known: []storage.Known{{ProxyID: "p", Succeeded: true}},
		Items: []storage.Item{{Key: "x", Stamp: 1, TTL: 60}}})
	if got := server.Do("EVAL", `local n = 0
		for _, k in ipairs(redis.call('KEYS', '*')) do
			if redis.call('PTTL', k) < 0 or k:sub(1, 7) ~= 'swivel:' then return k end
			n = n + 1
		end
		return n`, "0"); got != ":7" {
		t.Errorf("%s", got)
	}
}
