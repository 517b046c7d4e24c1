package redis

import (
	"context"
	"crypto/rand"
	_ "embed" // for the script
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"swivel/storage"
)

//go:embed sync.lua
var syncText string

var syncScript = redis.NewScript(syncText)

// ErrSalt says that the fleet has another salt than the instance: they would call
// the same proxy by different ids.
var ErrSalt = errors.New("the fleet has another salt")

// Hub is a storage.Hub at a server.
type Hub struct {
	client *Client
	me     atomic.Value // string: who calls
	nudges chan struct{}
}

var _ storage.Hub = (*Hub)(nil)

// Hub returns the client's hub. It listens for nudges until ctx ends.
func (c *Client) Hub(ctx context.Context) *Hub {
	h := &Hub{client: c, nudges: make(chan struct{}, 1)}
	h.me.Store("")
	go h.listen(ctx)
	return h
}

// Nudges implements storage.Hub.
func (h *Hub) Nudges() <-chan struct{} { return h.nudges }

// listen passes on what others publish. The library connects again by itself.
func (h *Hub) listen(ctx context.Context) {
	sub := h.client.redis.Subscribe(ctx, h.client.key("nudge"))
	defer sub.Close()
	messages := sub.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok {
				return
			}
			if m.Payload == h.me.Load() {
				continue
			}
			select {
			case h.nudges <- struct{}{}:
			default:
			}
		}
	}
}

// Sync implements storage.Hub, in one round trip.
func (h *Hub) Sync(ctx context.Context, s storage.Sync) (storage.Synced, error) {
	h.me.Store(s.Instance)
	text, err := json.Marshal(s)
	if err != nil {
		return storage.Synced{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, h.client.timeout)
	defer cancel()
	keys, life := []string{h.client.prefix}, rand.Text()
	p := h.client.redis.Pipeline()
	clock, reply := p.Time(ctx), syncScript.EvalSha(ctx, p, keys, text, life)
	_, err = p.Exec(ctx)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply = syncScript.Eval(ctx, h.client.redis, keys, text, life)
		err = reply.Err()
	}
	if err != nil {
		return storage.Synced{}, explain(err)
	}
	parts, err := reply.Slice()
	if err == nil && len(parts) == 1 {
		return storage.Synced{}, ErrSalt
	}
	if err != nil || len(parts) != 7 {
		return storage.Synced{}, errors.New("redis: the answer makes no sense")
	}
	answer, err := decode(parts)
	answer.Clock = storage.Moment(clock.Val().UnixMicro())
	return answer, err
}

// decode reads what the script returns.
func decode(parts []any) (s storage.Synced, err error) {
	s.Life, _ = parts[0].(string)
	cursor, _ := parts[1].(string)
	s.Cursor, err = strconv.ParseUint(cursor, 10, 64)
	more, _ := parts[2].(int64)
	instances, _ := parts[3].(int64)
	s.More, s.Instances = more == 1, int(instances)
	s.Leases = texts(parts[4])
	s.Known, s.Items = values[storage.Known](parts[5]), values[storage.Item](parts[6])
	if err != nil {
		return s, fmt.Errorf("redis: the answer makes no sense: %w", err)
	}
	return s, nil
}

func texts(part any) (all []string) {
	list, _ := part.([]any)
	for _, one := range list {
		if text, ok := one.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// values reads documents. One that makes no sense must not cost the others.
func values[T any](part any) (all []T) {
	for _, text := range texts(part) {
		var one T
		if json.Unmarshal([]byte(text), &one) == nil {
			all = append(all, one)
		}
	}
	return all
}
