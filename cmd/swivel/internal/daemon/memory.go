package daemon

import "runtime/debug"

// manyProxies is how large a list has to be for its reading to leave memory
// behind that is worth giving back.
const manyProxies = 10_000

// giveBack returns to the system what the reading of a list of so many proxies
// has taken and nobody needs any more: the text, and what the database had to
// say. Left to itself the collector keeps about as much as is in use.
func giveBack(proxies int) {
	if proxies >= manyProxies {
		debug.FreeOSMemory()
	}
}
