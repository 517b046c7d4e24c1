package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"swivel/cmd/swivel/internal/feed"
)

// A stream says something now and then, so that both sides notice when the other
// is gone; and who does not take what is written is not waited for.
const (
	eventsBeat    = 15 * time.Second
	eventsTimeout = 10 * time.Second
	eventsRetry   = 2000 // milliseconds until a browser comes again
)

// events streams what happens, as Server-Sent Events (WHATWG HTML section 9.2):
// first what is remembered since the event that the client had last.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	f := (*s.operator.Load()).Feed()
	after, _ := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64) // 0, if it is no number: all
	missed, listener, ok := f.Listen(after)
	if !ok {
		refuse(w, http.StatusServiceUnavailable, "too many listen already")
		return
	}
	defer f.Leave(listener)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := stream{w, http.NewResponseController(w)}
	if out.write(append(fmt.Appendf(nil, "retry: %d\n\n", eventsRetry), words(missed)...)) != nil {
		return
	}
	beat := time.NewTicker(eventsBeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			err = out.write([]byte(":\n\n"))
		case e, open := <-listener.Events():
			if !open { // it was too slow; it may come again
				return
			}
			err = out.write(words(append([]feed.Event{e}, waiting(listener)...)))
		}
		if err != nil {
			return
		}
	}
}

// waiting are the events that have come already: a burst of them is one write.
func waiting(l *feed.Listener) (more []feed.Event) {
	for {
		select {
		case e, open := <-l.Events():
			if !open {
				return more
			}
			more = append(more, e)
		default:
			return more
		}
	}
}

// words are events as they are sent.
func words(events []feed.Event) (text []byte) {
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			continue // a number that JSON does not have; no event holds one
		}
		text = fmt.Appendf(text, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Kind, data)
	}
	return text
}

// stream is a response whose every part is sent at once.
type stream struct {
	io.Writer
	control *http.ResponseController
}

func (s stream) write(text []byte) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(eventsTimeout))
	if _, err := s.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}
