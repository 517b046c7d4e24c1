//go:build race

package resilience

const raceDetector = true
