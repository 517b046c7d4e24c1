package systemd

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Ready tells that clients are served, or that a reload is over.
func Ready() { notify(daemon.SdNotifyReady) }

// Reloading tells that the configuration is being read again; Ready ends it.
func Reloading() {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // cannot fail: the clock exists
	notify(fmt.Sprintf("%s\nMONOTONIC_USEC=%d", daemon.SdNotifyReloading, now.Nano()/1000))
}

// Stopping tells that the end has begun, and how long it may take.
func Stopping(within time.Duration) {
	notify(fmt.Sprintf("%s\nEXTEND_TIMEOUT_USEC=%d", daemon.SdNotifyStopping, within.Microseconds()))
}

// notify has nobody to report to if the manager has gone.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }
