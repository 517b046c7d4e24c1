// Package auth says who may use the daemon: it reads users and their bcrypt
// hashes, and checks the passwords that clients send.
//
// A check of a bcrypt hash takes some 50 ms of CPU on purpose. A client that
// sends its password with each request must not pay that each time, and somebody
// who guesses must not be able to take the machine: verdicts are remembered, and
// few are computed at a time.
//
//	users, err := auth.Read(entries, file)
//	...
//	guard := auth.NewGuard(users)
//	err = guard.Check("alice", "secret")
package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sync/singleflight"
)

// ErrWrong means that there is no such user, or that the password is not his.
var ErrWrong = errors.New("auth: wrong user or password")

// ErrBusy means that too many passwords are being checked at the moment.
var ErrBusy = errors.New("auth: too many passwords to check")

// Guard checks passwords. It is safe for concurrent use; create it with
// NewGuard.
type Guard struct {
	state atomic.Pointer[state]
	slots chan struct{} // one for each check that may run
	wait  time.Duration // for a slot
	key   [32]byte      // of the digests; random, so that they mean nothing outside
}

// slotWait is how long a check may wait for its turn.
const slotWait = 5 * time.Second

// NewGuard returns a guard over the users. With none, nobody is asked for a
// password.
func NewGuard(u *Users) *Guard {
	// Half of the processors: the others carry traffic.
	g := &Guard{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), wait: slotWait}
	_, _ = rand.Read(g.key[:]) // never fails
	g.Replace(u)
	return g
}

// Replace makes other users the ones that count. What was remembered of the old
// ones is forgotten.
func (g *Guard) Replace(u *Users) {
	g.state.Store(&state{users: u, right: map[digest]struct{}{}, wrong: map[digest]struct{}{}})
}

// Required says whether clients have to authenticate. The nil Guard lets
// everybody in.
func (g *Guard) Required() bool { return g != nil && g.Users().Len() > 0 }

// Users are those that count now.
func (g *Guard) Users() *Users { return g.state.Load().users }

// Check says whether the password is the user's: nil, ErrWrong or ErrBusy. It
// takes as long for a user that does not exist as for a wrong password.
func (g *Guard) Check(name, password string) error {
	s := g.state.Load()
	d := g.digest(name, password)
	if err, ok := s.remembered(d); ok {
		return err
	}
	// Clients open many connections at once: one check serves them all.
	_, err, _ := s.flights.Do(string(d[:]), func() (any, error) { return nil, g.compute(s, d, name, password) })
	return err
}

// compute does the work, when it is its turn.
func (g *Guard) compute(s *state, d digest, name, password string) error {
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-timer.C:
		return ErrBusy
	}
	err := s.users.compare(name, password)
	s.remember(d, err)
	return err
}

func (u *Users) compare(name, password string) error {
	hash := u.hashes[name]
	if hash == nil {
		_ = bcrypt.CompareHashAndPassword(u.decoy, []byte(password))
		return ErrWrong
	}
	if bcrypt.CompareHashAndPassword(hash, []byte(password)) != nil {
		return ErrWrong
	}
	return nil
}

// digest stands for a name with a password.
type digest [sha256.Size]byte

func (g *Guard) digest(name, password string) (d digest) {
	mac := hmac.New(sha256.New, g.key[:])
	var length [4]byte // where the name ends is part of it
	binary.BigEndian.PutUint32(length[:], uint32(len(name)))
	mac.Write(length[:])
	mac.Write([]byte(name))
	mac.Write([]byte(password))
	mac.Sum(d[:0])
	return d
}

// state is the users and the verdicts on them.
type state struct {
	users   *Users
	flights singleflight.Group

	mu           sync.Mutex
	right, wrong map[digest]struct{}
}

// maxRemembered bounds either kind of verdicts. Right ones are as many as users,
// so that only guesses meet it, and they are forgotten together.
const maxRemembered = 4096

func (s *state) remembered(d digest) (verdict error, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.right[d]; ok {
		return nil, true
	}
	_, ok = s.wrong[d]
	return ErrWrong, ok
}

func (s *state) remember(d digest, verdict error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := s.right
	if verdict != nil {
		kind = s.wrong
	}
	if len(kind) >= maxRemembered {
		clear(kind)
	}
	kind[d] = struct{}{}
}
