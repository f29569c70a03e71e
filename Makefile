# SPDX-License-Identifier: BSD-2-Clause
# The front door. Every target first installs what it needs (scripts/setup); behind it is Meson.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
# Cycles of chaos for each policy, from SEED on.
CYCLES ?= 50
# Worlds of the live half: so many, from this one on.
SEEDS ?= 10000
SEED ?= 1
# What else bench/live_power is asked.
POWER ?=
# How often the keeper is killed.
KILLS ?= 1000
# On a system that scripts/setup does not know, install the packages by hand and use SETUP=true.
SETUP ?= scripts/setup

.PHONY: all demo demo-replay nginx install-nginx test bench install lint format golden fuzz mutate
.PHONY: short-memory install-python world keeper-kills
.PHONY: clean help

all:
	@$(SETUP) build
	@scripts/configure build
	@ninja -C build product
	@grep -q DBALLAST_MPI build/build.ninja || \
	    printf '%s\n' 'Without MPI, mpirun cannot spread a run over several machines.' \
	    'For that, install libopenmpi-dev, remove the directory build, and make again.'

# Compiles half of the program: the command that it runs, and what that needs.
demo:
	@$(SETUP) build
	@scripts/configure build
	@ninja -C build ballast-demo
	@build/ballast-demo --jobs 500k --policy least_conn --policy jiq:else=hold --policy jiq \
	    --policy pod:d=2 --policy round-robin --policy random
	@echo 'Next: make (the whole program, build/ballast), make demo-replay, make help.'

# Eleven minutes of an invented shop: which policy it wants, and how many servers.
demo-replay: all
	@$(CC) -O2 -Iinclude -o build/make_log examples/make_log.c build/src/libballast.a -lm
	@build/make_log --lines=100000 --servers=20 --load=0.5 >build/access.log
	@build/ballast replay build/access.log --target p99=2s

# The rival that nginx has from 1.31 on, where that is the nginx here.
WITH_LEAST_TIME = if PATH=$$PATH:/usr/sbin nginx -v 2>&1 | grep -Eq 'nginx/1\.(3[1-9]|[4-9][0-9])'; then \
    build/ballast live examples/live/least-time.yaml --again --db $(1); fi

# Real nginx, stations, servers and HAProxy, compared with the simulator (less than two minutes).
.PHONY: demo-live
demo-live:
	@$(SETUP) build nginx live
	@scripts/configure build -Dnginx=true
	@ninja --quiet -C build product nginx-module
	@build/ballast live examples/live/demo.yaml --again --db build/demo-live.db
	@build/ballast live examples/live/hold.yaml --again --db build/demo-hold.db
	@$(call WITH_LEAST_TIME,build/demo-time.db)

# Four hosts in network namespaces, a partition, a killed dispatcher and a rolling deploy (less than three
# minutes, needs root).
.PHONY: demo-hosts
demo-hosts:
	@$(SETUP) build nginx live
	@scripts/configure build -Dnginx=true
	@ninja --quiet -C build product nginx-module
	@build/ballast live examples/live/hosts.yaml --again --db build/demo-hosts.db

# The module for nginx, build/nginx/ngx_http_ballast_module.so.
nginx:
	@$(SETUP) build nginx
	@scripts/as-owner scripts/configure build -Dnginx=true
	@scripts/as-owner ninja -C build nginx-module

install-nginx: nginx
	@PREFIX='$(if $(filter file,$(origin PREFIX)),,$(abspath $(PREFIX)))' \
	    nginx/install build/nginx/ngx_http_ballast_module.so

.PHONY: uninstall-nginx
uninstall-nginx:
	@PREFIX='$(if $(filter file,$(origin PREFIX)),,$(abspath $(PREFIX)))' \
	    nginx/install --remove build/nginx/ngx_http_ballast_module.so

# The same code in a browser: build/playground/index.html, for any static web server or as a file.
.PHONY: playground
playground:
	@$(SETUP) build playground
	@scripts/configure build
	@ninja -C build playground
	@echo 'built: build/playground/index.html'

test:
	@$(SETUP) build test nginx playground
	@scripts/test

# Tests that start processes, again and again on a busy machine. ROUNDS=5 TESTS='smoke hold' is a quick look.
.PHONY: test-load
ROUNDS ?= 20
TESTS ?=
test-load:
	@$(SETUP) build test nginx
	@scripts/test-load $(ROUNDS) $(TESTS)

bench:
	@$(SETUP) build test nginx playground
	@scripts/configure build -Dtests=true
	@meson test -C build --benchmark --verbose

.PHONY: growth
# The tables of docs/speed.md (minutes).
growth:
	@$(SETUP) build test bench
	@scripts/configure build -Dtests=true
	@ninja --quiet -C build bench/bench-growth
	@build/bench/bench-growth
	@for engine in markov event; do \
	    echo && bench/where build/bench/bench-growth $$engine pod:d=2 1000 || exit; \
	done
	@echo && for servers in 10 100 1000 10000; do bench/simpy.py $$servers 50000 || exit; done

.PHONY: bench-live
bench-live:
	@$(SETUP) build test nginx
	@scripts/configure build -Dtests=true
	@ninja -C build ballast nginx-module tests/nginx-app bench/bench-nginx_ends
	@bench/nginx build/bench/bench-nginx_ends build/nginx/ngx_http_ballast_module.so servers=16 rounds=1200
	@bench/nginx build/bench/bench-nginx_ends build/nginx/ngx_http_ballast_module.so servers=1000 rounds=420
	@bench/status build/ballast build/tests/nginx-app build/nginx/ngx_http_ballast_module.so
	@bench/hops build/ballast build/tests/nginx-app build/nginx/ngx_http_ballast_module.so
	@bench/reload build/ballast build/nginx/ngx_http_ballast_module.so
	@bench/stations build/ballast build/tests/nginx-app build/nginx/ngx_http_ballast_module.so

# More policies on real servers, for longer: the file says how other fleets are measured.
.PHONY: live-lab
live-lab:
	@$(SETUP) build nginx live
	@scripts/configure build -Dnginx=true
	@ninja --quiet -C build product nginx-module
	@build/ballast live examples/live/lab.yaml --again --db build/live-lab.db
	@build/ballast live examples/live/hold.yaml --again --db build/live-hold.db
	@$(call WITH_LEAST_TIME,build/live-time.db)

# Apps that are stopped and started by tabs, compared with the simulator and with a windowed rule. POWER is
# passed on to bench/live_power: POWER='--rounds 1 --seconds 20' is a quick look.
.PHONY: live-power
live-power:
	@$(SETUP) build test nginx live
	@scripts/configure build -Dtests=true
	@ninja -C build ballast ballastd nginx-module tests/nginx-app bench/bench-power_figure
	@for what in loads step recorded; do bench/live_power build/ballast build/tests/nginx-app \
	    build/nginx/ngx_http_ballast_module.so build/ballastd $$what --csv build/power-step.csv $(POWER) || \
	    exit 1; echo; done
	@build/bench/bench-power_figure build/power-step.svg '12 servers=build/power-step.csv'
	@echo 'drawn: build/power-step.svg'

# What the twin predicts of policies, compared with what they do then; bench/twin says what it takes.
.PHONY: bench-twin
bench-twin:
	@$(SETUP) build test nginx live
	@scripts/configure build -Dtests=true
	@ninja -C build ballast nginx-module tests/nginx-app
	@bench/twin build/ballast build/tests/nginx-app build/nginx/ngx_http_ballast_module.so

# How far predictions from a log are off for real apps; bench/apps says what it takes.
.PHONY: bench-apps
bench-apps:
	@$(SETUP) build test nginx live apps
	@scripts/configure build -Dtests=true
	@ninja -C build ballast nginx-module
	@bench/apps build/ballast build/nginx/ngx_http_ballast_module.so

# What is built belongs to the owner of the tree, also with sudo.
install:
	@$(SETUP) build
	@scripts/as-owner scripts/configure build -Dprefix=$(abspath $(PREFIX))
	@scripts/as-owner ninja -C build product
	@meson install -C build --no-rebuild
	@chown --no-dereference --reference=build build/meson-logs/install-log.txt

# The Debian packages, in build/deb, as lintian accepts them. SUITE=trixie: for Debian 13, in one that is
# made for this (root), in build/deb-trixie.
.PHONY: deb dist uninstall
SUITE ?=
deb:
	@$(SETUP) build nginx playground docs deb $(if $(SUITE),packages)
	@scripts/deb $(SUITE)

# The packages of `make deb` in a fresh Debian that boots (root, a quarter of an hour); SUITE as there.
.PHONY: test-packages
test-packages:
	@$(SETUP) packages
	@scripts/test-packages $(if $(SUITE),build/deb-$(SUITE) $(SUITE))

# Containers with these packages, built and used (root).
.PHONY: test-containers
test-containers:
	@$(SETUP) test containers
	@scripts/test-containers

# The sources as a tarball, the same bytes each time.
dist:
	@sha256sum "$$(scripts/dist build)"

uninstall:
	@$(SETUP) build
	@scripts/as-owner scripts/configure build -Dprefix=$(abspath $(PREFIX))
	@scripts/as-owner ninja -C build product
	@DESTDIR='$(DESTDIR)' scripts/uninstall build
	@chown --no-dereference --reference=build build/meson-logs/install-log.txt

# The package alone, which holds all that it needs; `make install` has it too.
install-python:
	@$(SETUP) build python
	@scripts/as-owner scripts/configure build -Dprefix=$(abspath $(PREFIX))
	@scripts/as-owner ninja -C build product
	@meson install -C build --no-rebuild --tags python
	@chown --no-dereference --reference=build build/meson-logs/install-log.txt

# The package as a file for pip, with all that it needs but Python: build/ballast-VERSION-....whl.
.PHONY: wheel
wheel:
	@$(SETUP) build
	@scripts/configure build
	@ninja -C build wheel-module
	@scripts/wheel build

lint:
	@$(SETUP) build test nginx playground lint
	@scripts/lint

# The pages as a site with a search field, build/site/index.html; the links are checked.
.PHONY: docs
docs: playground
	@$(SETUP) docs
	@scripts/docs

format:
	@$(SETUP) lint
	@scripts/format

short-memory:
	@$(SETUP) build test
	@scripts/configure build -Dtests=true
	@ninja -C build
	@build/tests/cross-short_memory build/ballast build/tests/fail_allocation.so --all

# Random faults of fleets over hosts, CYCLES of each policy from SEED on (15 seconds each, needs root).
.PHONY: chaos
chaos:
	@$(SETUP) build test nginx live
	@scripts/configure build -Dtests=true
	@ninja --quiet -C build
	@build/tests/live-chaos build/ballast build/nginx/ngx_http_ballast_module.so --seed $(SEED) \
		--cycles $(CYCLES)

world:
	@$(SETUP) build test
	@scripts/configure build -Dtests=true
	@ninja -C build tests/live-world
	@build/tests/live-world --seed $(SEED) --count $(SEEDS)

# The keeper killed at random moments, more often than in `make test`.
keeper-kills:
	@$(SETUP) build test
	@scripts/configure build -Dtests=true
	@ninja -C build ballastd tests/keeper-app
	@tests/live/ballastd build/ballastd build/tests/keeper-app --only killed_at_random --kills $(KILLS) \
	    --seed $(SEED)
	@tests/live/replicas build/ballastd build/tests/keeper-app --only killed_at_random --kills $(KILLS) \
	    --seed $(SEED)

golden:
	@$(SETUP) build test
	@scripts/regolden

fuzz:
	@$(SETUP) build test fuzz
	@scripts/fuzz $(FUZZ_SECONDS)

# Mistakes that the tests must find (tests/mutants.txt), one by one in a copy of the tree.
mutate:
	@$(SETUP) build test
	@scripts/mutate

clean:
	rm -rf build build-*

help:
	@echo 'make                  build the programs, build/ballast and build/ballastd, and the libraries'
	@echo 'make demo             build and compare six policies on one fleet (half a minute, then seconds)'
	@echo 'make demo-replay      make an access log of an invented shop and replay it (seconds)'
	@echo 'make demo-live        measure policies on real servers and compare with the lab (2 minutes)'
	@echo 'make nginx            build the module for nginx, build/nginx/ngx_http_ballast_module.so'
	@echo 'make install-nginx    install it where this nginx looks for modules; PREFIX and DESTDIR are honoured'
	@echo 'make uninstall-nginx  remove it again'
	@echo 'make playground       the same code as a page for browsers, build/playground/index.html'
	@echo 'make test             build and run all tests, also under sanitizers and valgrind (eleven minutes)'
	@echo 'make test-load        run tests with processes ROUNDS times on a busy machine (hours)'
	@echo 'make bench            measure the speed of the engines'
	@echo 'make demo-hosts       four hosts: a partition, a killed dispatcher, a deploy (root; three minutes)'
	@echo 'make live-power       stop and start real apps, compare with lab and windowed rule (half an hour)'
	@echo 'make live-lab         more policies on real servers, compared with the simulator (20 minutes)'
	@echo 'make bench-twin       what the twin predicts of policies, compared with what they do then (minutes)'
	@echo 'make bench-apps       what is predicted of real apps, compared with what these do (minutes)'
	@echo 'make growth           how the speed grows with servers, load, choices, tasks and threads (minutes)'
	@echo 'make bench-live       measure what the module costs inside nginx, compared with nginx (minutes)'
	@echo 'make install          install under PREFIX (now $(PREFIX)); DESTDIR is honoured'
	@echo 'make uninstall        remove what make install has installed there'
	@echo 'make deb              build and check Debian packages, build/deb (minutes); SUITE=trixie: Debian 13'
	@echo 'make test-packages    install, upgrade and remove these packages in a fresh Debian (root; minutes)'
	@echo 'make test-containers  build containers with these packages and use them (root; minutes)'
	@echo 'make dist             pack the sources, build/ballast-VERSION.tar.xz, the same bytes each time'
	@echo 'make install-python   install the Python package under PREFIX, for Debian'"'"'s python3'
	@echo 'make wheel            pack the Python package for pip, build/ballast-VERSION-....whl'
	@echo 'make docs             build the documentation as a site, build/site, and check its links'
	@echo 'make lint             layout, warnings of gcc and clang, static analysis, manual page, scripts'
	@echo 'make format           lay out all sources as .clang-format says'
	@echo 'make golden           make what is printed now the expected output of tests/cli and tests/golden'
	@echo 'make fuzz             fuzz each parser for FUZZ_SECONDS (now $(FUZZ_SECONDS))'
	@echo 'make short-memory     let every single allocation fail, one at a time (half an hour)'
	@echo 'make mutate           make the mistakes of tests/mutants.txt and say which test finds each (minutes)'
	@echo 'make keeper-kills     kill ballastd KILLS (now $(KILLS)) times and look for its apps (minutes)'
	@echo 'make chaos            CYCLES (now $(CYCLES)) of random faults over hosts (root; a minute each)'
	@echo 'make world            SEEDS (now $(SEEDS)) simulated worlds of the live half'
	@echo 'make clean            remove everything that was built'
	@echo 'Each installs the Debian packages it misses; with SETUP=true nothing is installed.'
