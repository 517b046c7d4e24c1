//go:build !race

package resilience

const raceDetector = false
