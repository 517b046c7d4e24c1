package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"swivel/cmd/swivel/internal/feed"
)

// listen opens the stream; next returns its next event.
func (r *rig) listen(t *testing.T, after string) (next func() feed.Event, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, "GET", r.base+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Last-Event-ID", after)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %v", response.Status, response.Header)
	}
	in := bufio.NewScanner(response.Body)
	next = func() (e feed.Event) {
		t.Helper()
		for in.Scan() {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				var value any
				if err := errors.Join(json.Unmarshal([]byte(data), &e), json.Unmarshal([]byte(data), &value)); err != nil {
					t.Fatal(err)
				}
				if err := description(t).Components.Schemas["Event"].Value.VisitJSON(value); err != nil {
					t.Errorf("%s is not as described: %v", data, err)
				}
				return e
			}
		}
		t.Fatal("the stream has ended")
		return e
	}
	return next, func() { cancel(); _ = response.Body.Close() }
}

func TestEventsComeAsTheyHappen(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.feed.Publish(feed.Event{Kind: feed.Transition, Name: "a", From: "closed", To: "open", Reason: "two\nlines"})
	next, stop := r.listen(t, "")
	first := next()
	if first.Kind != feed.Transition || first.Reason != "two\nlines" {
		t.Errorf("%+v", first)
	}
	r.feed.Publish(feed.Event{Kind: feed.Reload})
	if e := next(); e.Kind != feed.Reload || e.ID != first.ID+1 {
		t.Errorf("%+v", e)
	}
	stop()
	r.feed.Publish(feed.Event{Kind: feed.Outage})
	next, stop = r.listen(t, "x")
	if e := next(); e.ID != first.ID {
		t.Errorf("%+v", e)
	}
	stop()
	id, _ := json.Marshal(first.ID + 1)
	next, stop = r.listen(t, string(id))
	if e := next(); e.Kind != feed.Outage {
		t.Errorf("%+v: not what was missed", e)
	}
	stop()
}
