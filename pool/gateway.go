package pool

// A gateway is one proxy with many exits, such as a vendor has in front of all of
// theirs: with each connection it may leave elsewhere.

// AssumeGateway takes the only proxy of a pool for a rotating gateway, unless its
// line says whether it is one. Many have no more than a vendor's gateway, and
// five bad exits in a row should not leave them with nothing; a proxy that does
// not rotate loses little by it, for nobody could serve while it rests. The Spec
// itself is not changed, but replaced.
func AssumeGateway(specs []*Spec) {
	if len(specs) == 1 && !specs[0].RotatingSet {
		gateway := *specs[0] // which may be in use
		gateway.Rotating = true
		specs[0] = &gateway
	}
}

// assumeRotating does the same for a proxy whose credentials name another session
// with every attempt.
func (s *Spec) assumeRotating() {
	if h := s.holesOf(); !s.RotatingSet && (h.has[sessionHole] || h.has[randomHole]) {
		s.Rotating = true
	}
}
