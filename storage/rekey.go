package storage

// Rekeyed returns the bans under the ids that their proxies have from now on; see
// [Store.Rekey].
func Rekeyed(bans []Ban, ids map[string]string) (kept []Ban) {
	for _, b := range bans {
		if b.ProxyID = ids[b.ProxyID]; b.ProxyID != "" {
			kept = append(kept, b)
		}
	}
	return kept
}
