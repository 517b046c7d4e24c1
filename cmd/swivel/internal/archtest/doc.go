// Package archtest tests how the module is built: which package may import
// what, and that what can be used is documented. There is no code here but
// tests; each rule stands beside its reason, so that whoever wants to break
// one knows what it would cost.
package archtest
