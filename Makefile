# SPDX-License-Identifier: Apache-2.0
# The front door. Meson and ninja do the work (meson.build); the longer jobs are scripts (scripts/).
#
#   make            the program: build/kanon
#   make demo       the three stories of examples/, on data that the program makes itself
#   make quick      the unit and style tests of the plain build: two minutes
#   make test       every test in every build (plain, address + undefined, thread sanitizer); .ci/run calls this
#   make test-full  the same with all rounds of the random tests and of what is sampled: hours
#   make help       all targets
#
# Every target installs the Debian packages it misses (scripts/setup), as root or through sudo.

PREFIX  ?= /usr/local
DESTDIR ?=
TARGET  ?= fuzz_csv
SECONDS ?= 60
DATA    ?= .

.PHONY: all
all: ## build the program, build/kanon
	@scripts/setup build
	@scripts/build

.PHONY: demo
demo: all ## walk through the stories of examples/ (build/demo)
	@scripts/demo build/kanon

.PHONY: test
test: ## run every test in every build
	@scripts/setup test
	@scripts/test --sample --fetch plain asan tsan

.PHONY: test-full
test-full: ## run every test with all its rounds: hours
	@scripts/setup test
	@scripts/test --full --fetch plain asan tsan

.PHONY: quick
quick: ## run the unit and style tests: two minutes
	@scripts/setup test
	@scripts/test quick

.PHONY: big
big: ## test Parquet, what does not fit, servers: 15 minutes
	@scripts/setup test
	@scripts/test --fetch big

.PHONY: real
real: all ## release known databases: make real DATA=folder
	@tests/wellknown/real build/kanon "$(DATA)"

.PHONY: explore
explore: ## draw fresh seeds for the seeded tests: SECONDS=600
	@scripts/setup test
	@scripts/test --build plain
	@scripts/explore $(SECONDS)

.PHONY: check asan tsan lean
check: ## run the tests of the plain build only
	@scripts/setup test
	@scripts/test --sample --fetch plain

asan: ## run the tests under the address and undefined sanitizers
	@scripts/setup test
	@scripts/test --fetch asan

tsan: ## run the threaded tests under the thread sanitizer
	@scripts/setup test
	@scripts/test tsan

lean: ## build without what can be left out, and test that
	@scripts/setup test
	@scripts/test lean

.PHONY: test-browser
test-browser: all ## look at reports in headless Chromium: build/browser
	@scripts/setup browser
	@ninja -C build --quiet tests/report_samples
	@tests/browser/run build/tests/report_samples build/browser

.PHONY: studio
studio: all ## rebuild the studio's page, walk through it in Chromium
	@scripts/setup studio
	@scripts/studio

.PHONY: wheel python
wheel: all ## build the Python package: build/python/dist
	@scripts/setup python
	@scripts/wheel --source

python: all ## build the Python package, test it on two versions
	@scripts/setup python
	@scripts/python

.PHONY: spark
spark: all ## test pykanon.spark on a cluster here: 15 minutes
	@scripts/setup spark
	@scripts/spark

.PHONY: deb
deb: ## build the Debian packages of the last commit: build/deb
	@scripts/setup deb
	@scripts/deb

.PHONY: docs
docs: ## put the pages together as a book, check their links
	@scripts/setup docs
	@scripts/docs

.PHONY: golden
golden: all ## write the expected output of the command-line tests anew
	@tests/cli/run --update build/kanon

.PHONY: format format-check tidy
format: ## format every .c file in place
	@scripts/setup test
	@scripts/format

format-check: ## say which .c files are not formatted
	@scripts/setup test
	@scripts/format --check

tidy: ## run clang-tidy over the sources
	@scripts/setup dev
	@scripts/tidy

.PHONY: coverage
coverage: ## measure what the tests reach: build-coverage/coverage.html
	@scripts/setup dev
	@scripts/coverage

.PHONY: mutants
mutants: ## does a test notice each of 1,000 small faults? hours
	@scripts/setup dev
	@scripts/mutants

.PHONY: valgrind
valgrind: ## run the tests under valgrind: hours
	@scripts/setup dev
	@scripts/valgrind

.PHONY: fresh-machine
fresh-machine: ## run demo and test as a new user of a bare Debian 12
	@scripts/fresh-machine

.PHONY: fuzz
fuzz: ## fuzz one target or all: TARGET=fuzz_csv|all SECONDS=60
	@scripts/setup test
	@scripts/fuzz $(TARGET) $(SECONDS)

.PHONY: bench bench-all
bench: all ## measure every goal: 45 minutes (bench/results.md)
	@scripts/setup bench
	@bench/scoreboard

bench-all: all ## run every benchmark in turn: hours (bench/README.md)
	@scripts/setup bench
	@status=0; for name in run wide pycanon fulldomain/run mondrian/run methods/run dependencies/run relational/run tree/run memory/run; do \
		echo "bench/$$name"; bench/$$name || status=1; done; exit $$status

.PHONY: install
install: all ## install under PREFIX (/usr/local); DESTDIR is respected
	@meson configure build -Dprefix=$(PREFIX)
	@scripts/build
	@DESTDIR=$(DESTDIR) meson install -C build --no-rebuild --quiet

.PHONY: clean
clean: ## remove every build folder
	rm -rf build build-asan build-tsan build-lean build-fuzz build-coverage build-valgrind build-mutants

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '%-22s%s\n' "$$name" "$$text"; done
