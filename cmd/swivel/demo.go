package main

// demoCmd serves over toy proxies.
type demoCmd struct {
	settings
}

// Run is not there yet.
func (c *demoCmd) Run(streams) error { return nil }
