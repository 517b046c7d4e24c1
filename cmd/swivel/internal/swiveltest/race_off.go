//go:build !race

package swiveltest

// RaceDetector says whether the tests, and so the program, have the race detector:
// all takes several times as long then.
const RaceDetector = false
