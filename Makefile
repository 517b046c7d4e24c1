# What is worth repeating: "make" lists it.

FUZZTIME ?= 30s
FOR ?= 10m
VERSION ?= $(shell git describe --tags --always --dirty)
ARCHS ?= amd64
DIST ?= dist
export DIST

.PHONY: help build dist run test check bench bench-peers faults fuzz peers resilience simulate soak

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 13

build: ## build bin/swivel
	go build -o bin/swivel ./cmd/swivel

dist: ## make dist/swivel-VERSION-linux-ARCH.tar.gz for each of ARCHS (amd64, arm64), and their checksums
	deploy/dist "$(VERSION)" $(ARCHS)

run: build ## serve the proxies of proxies.txt, or toy ones when there is no such file
	@if [ -e proxies.txt ]; then exec bin/swivel serve --proxies proxies.txt --log-format console; else exec bin/swivel demo; fi

test: ## install what the tests talk to (when root on Debian), then run all tests
	.ci/peers
	go vet ./...
	go test -race -shuffle=on ./...

check: ## look for mistakes without running anything
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt wants to change:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	.ci/vulncheck

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

bench-peers: build ## compare swivel with HAProxy, squid and tinyproxy, which it installs (when root on Debian)
	.ci/peers
	go build -o bin/swivel-bench ./cmd/swivel-bench
	bin/swivel-bench peers

faults: ## kill, starve and cut off a running swivel for some minutes (best as root), and print what was found
	go test -count=1 -timeout 30m -v ./cmd/swivel/faults -args -faults.long

fuzz: ## run every fuzz target for FUZZTIME (30s)
	.ci/fuzz $(FUZZTIME)

resilience: ## run the long form of the resilience test and print its figures
	go test -count=1 -timeout 10m -v ./cmd/swivel/resilience -args -resilience.long

soak: build ## keep swivel busy for FOR (10m) with all kinds of clients and bad proxies; look whether it grows, and whether all adds up
	go build -o bin/swivel-bench ./cmd/swivel-bench
	bin/swivel-bench soak --for $(FOR)

simulate: ## simulate fleets of up to 1,000 instances for some minutes, and print the tables of docs/simulation.md
	go test -count=1 -timeout 60m -v ./cmd/swivel/internal/fleet/simulate -args -simulate.full

peers: ## install the proxies and clients that the tests talk to
	.ci/peers
