package limit

import "sync"

// Connections bounds the open connections of each client. The nil Connections
// bounds nothing.
type Connections struct {
	most int

	mu   sync.Mutex
	open map[Client]int // without those that have none
}

// NewConnections returns a limit of so many connections; nil, which bounds
// nothing, for 0.
func NewConnections(most int) *Connections {
	if most <= 0 {
		return nil
	}
	return &Connections{most: most, open: map[Client]int{}}
}

// Enter counts a connection of the client; false if it has as many as it may.
// Each one that entered has to Leave.
func (l *Connections) Enter(c Client) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[c] >= l.most {
		return false
	}
	l.open[c]++
	return true
}

// Leave says that a connection of the client has ended.
func (l *Connections) Leave(c Client) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[c]--; l.open[c] <= 0 {
		delete(l.open, c)
	}
}
