package pool

// TestApart says whether a canary finds out which resting proxies are back. While
// it does, exchanges of clients test one only when nobody else is left. It is safe
// for concurrent use.
func (p *Pool) TestApart(on bool) { p.apart.Store(on) }
