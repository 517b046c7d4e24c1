//go:build race

package attempts

const raceDetector = true
