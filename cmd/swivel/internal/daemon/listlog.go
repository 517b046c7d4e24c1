package daemon

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"swivel/cmd/swivel/internal/eventlog"
	"swivel/pool"
	"swivel/pool/spelling"
)

// maxSkippedLogged bounds what a file that is no list at all does to the log;
// maxReasons is how many reasons a summary names.
const (
	maxSkippedLogged = 20
	maxReasons       = 10
)

// logLists writes what is wrong with lists, whether they can be used or not.
func logLists(log *eventlog.Log, lists Lists) {
	for i, s := range lists.Skipped {
		if i == maxSkippedLogged {
			log.Warn().Int("lines", len(lists.Skipped)).Str("reasons", lists.Summary()).
				Msg("more lines skipped; swivel config check lists them all")
			break
		}
		event := log.Warn().Str("file", s.File)
		if s.Line > 0 { // else the reason names the proxy
			event = event.Int("line", s.Line)
		}
		if s.Element > 0 {
			event = event.Int("element", s.Element)
		}
		event.Str("reason", s.Reason).Msg("line skipped")
	}
	for _, stale := range lists.Stale {
		log.Warn().Err(stale).Msg("list not refreshed: what it said last is used")
	}
	for _, unkept := range lists.Unkept {
		log.Warn().Err(unkept).Msg("list not kept for the next start")
	}
}

// logSelf names the proxies that are swivel itself.
func logSelf(log *eventlog.Log, dropped []*pool.Spec) {
	for i, s := range dropped {
		if i == maxSkippedLogged {
			break // the line about the pool has the number of all
		}
		log.Warn().Str("proxy_name", s.Label()).Str("address", s.Address()).Msg("proxy not used: its address is swivel's own")
	}
}

// Summary says how many lines are not used for which reason, the most frequent
// first; "" if all are.
func (l *Lists) Summary() string {
	counts := l.Reasons()
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for i, reason := range reasons {
		if i == maxReasons {
			parts = append(parts, "and "+spelling.Counted(len(reasons)-i, "other reason", "other reasons"))
			break
		}
		parts = append(parts, fmt.Sprintf("%d × %s", counts[reason], reason))
	}
	return strings.Join(parts, "; ")
}
