package admin

import (
	"encoding/json"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/fleet"
)

func TestFleetIsShown(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	var got Fleet
	status, text := r.ask(t, "GET", "/api/v1/fleet", "", nil)
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 {
		t.Fatalf("%d, %v", status, err)
	}
	if !got.Enabled || !got.Up || got.Instances != 3 || got.Leases != 2 || got.Answered == 0 {
		t.Errorf("%+v", got)
	}
}

func TestNoFleetIsSaidToBeNone(t *testing.T) {
	if got := toFleet(fleet.Status{}, false); got != (Fleet{}) {
		t.Errorf("%+v", got)
	}
	if got := toFleet(fleet.Status{Behind: -time.Second, Took: time.Millisecond}, true); got.BehindS != -1 || got.CallMS != 1 {
		t.Errorf("%+v", got)
	}
}
