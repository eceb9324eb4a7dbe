# The commands of the project; `make help` lists them. Everything that is built lies in build/.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=

BUILD := build
LIBRARY := $(BUILD)/lib/libbackhaul.so.1
COMMAND := $(BUILD)/bin/backhaul
DAEMON := $(BUILD)/libexec/backhaul/backhauld
# The test kit for hosts: its library, and what it puts into the daemon of a test.
TESTING := $(BUILD)/lib/libbackhaul_testing.so.1
TESTBED := $(addprefix $(BUILD)/lib/backhaul/,backhaul-testbed.so backhaul-launched)
SWIFT_SOURCES := $(shell find Sources bindings/swift/Sources include -type f) Package.swift packaging/symbols.map
VERSION := $(shell awk '/define BH_VERSION_(MAJOR|MINOR|PATCH)/ {printf "%s%s", d, $$3; d = "."}' include/backhaul.h)

# The Swift runtime is linked statically, so that the binaries need no installed Swift. The linker is lld, because gold
# keeps local symbols of the modules in the table of exported symbols. Each function has its own section, and the linker
# removes unused functions and merges identical functions. Package.swift chooses for each module whether it is optimized
# for speed or for size. A release build does not check whether two accesses to a variable overlap, because a failed
# check would end the host's process. Debug builds check this. Debug information would name the folder of the checkout,
# so two checkouts would have different binaries. For the same reason the compiler must not put the hash of each
# module's code into the binary, which it does to save work in incremental builds.
# The linker resolves each imported function before main, and makes the table of these functions read-only. Code in C,
# also the inline functions of the system modules, has canaries and checked copies; Swift has canaries by default.
C_HARDENING := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong
SWIFT_RELEASE := swift build -c release --scratch-path $(BUILD)/swift/release --disable-local-rpath \
    -debug-info-format none \
    -Xswiftc -static-stdlib -Xswiftc -use-ld=lld -Xswiftc -Xfrontend -Xswiftc -function-sections \
    -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
    -Xswiftc -enforce-exclusivity=unchecked $(addprefix -Xcc ,$(C_HARDENING)) -Xlinker --gc-sections \
    -Xlinker --icf=all -Xlinker -z -Xlinker now
LIBRARY_LINK := -Xlinker "--version-script=$(CURDIR)/packaging/symbols.map" -Xlinker -soname=libbackhaul.so.1 \
    -Xlinker -z -Xlinker nodelete

# The pages of the manual that are made from the help and the documents.
MANUAL := $(addprefix $(BUILD)/man/,man1/backhaul.1 man5/backhaul.5 man7/backhaul.7 man8/backhauld.8)

# Section 3 of the manual: a page for each chapter of the header, and for each name a reference to the page.
MAN3 := $(BUILD)/man/man3

EXAMPLES := $(patsubst examples/c/%.c,$(BUILD)/examples/%,$(wildcard examples/c/*.c))
# The examples with an event loop, which have one source in common. The example for GLib is built if GLib is installed.
LOOPS := $(addprefix $(BUILD)/examples/,epoll libuv glib)
GLIB = $(shell pkg-config --cflags --libs glib-2.0 2>/dev/null)
EXAMPLE_LINK = -L$(BUILD)/lib -lbackhaul -Wl,-rpath,'$$ORIGIN/../lib'

# CC is the clang of the Swift toolchain, so the set-up does not have to install a C compiler. `make` searches for this
# clang only when a recipe uses CC.
CC = $(shell scripts/toolchain)/bin/clang
C_FLAGS := -std=c11 -O2 -g -Wall -Wextra -Werror -pedantic -Iinclude

SIMULATOR := $(BUILD)/bin/simulate

.PHONY: all examples demo fleet-demo test unit-tests quick simulate simulate-planted fuzz format lint soak bench site \
    site-test packages packages-test install uninstall clean help setup-build check-prefix

all: $(LIBRARY) $(COMMAND) $(DAEMON) $(TESTING) $(TESTBED) ## build the library, the command line and the daemon

setup-build:
	@scripts/setup build

$(LIBRARY): $(SWIFT_SOURCES) | setup-build
	$(SWIFT_RELEASE) $(LIBRARY_LINK) --product BackhaulLibrary
	@mkdir -p $(@D)
	# Running programs may have mapped the old file, so `cp` replaces the file and does not overwrite its bytes.
	cp --remove-destination $(BUILD)/swift/release/release/libBackhaulLibrary.so $@
	@ln -sf libbackhaul.so.1 $(@D)/libbackhaul.so

# All products use the same scratch folder, so `make` builds one product at a time.
$(COMMAND): $(SWIFT_SOURCES) $(LIBRARY)
	$(SWIFT_RELEASE) --product backhaul
	@mkdir -p $(@D)
	cp --remove-destination $(BUILD)/swift/release/release/backhaul $@

# The daemon finds the library in an installation, also in the folder of an architecture, and beside it.
$(DAEMON): Sources/backhauld/main.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) $(C_HARDENING) -g0 -fPIE -pie -o $@ $< -L$(BUILD)/lib -lbackhaul -Wl,-z,relro,-z,now \
	    -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../../lib:$$ORIGIN/../../lib64:$$ORIGIN/../../lib/'"$$(uname -m)-linux-gnu"

TESTING_FLAGS := $(filter-out -pedantic,$(C_FLAGS)) $(C_HARDENING) -g0 -fPIC -fvisibility=hidden -pthread

$(TESTING): $(wildcard testing/*.[ch]) include/backhaul_testing.h include/backhaul.h | setup-build
	@mkdir -p $(@D)
	$(CC) $(TESTING_FLAGS) -shared -o $@ $(filter-out testing/launched.c,$(wildcard testing/*.c)) \
	    -Wl,-soname,$(@F),-z,relro,-z,now
	@ln -sf $(@F) $(@:.1=)

# The functions that replace functions of libc are visible.
$(BUILD)/lib/backhaul/backhaul-testbed.so: $(wildcard testing/preload/* testing/*.h include/*.h) | setup-build
	@mkdir -p $(@D)
	$(CC) $(TESTING_FLAGS) -fvisibility=default -shared -o $@ $(wildcard testing/preload/*.c)

$(BUILD)/lib/backhaul/backhaul-launched: testing/launched.c testing/control.h | setup-build
	@mkdir -p $(@D)
	$(CC) $(TESTING_FLAGS) -pie -o $@ $<

$(MANUAL) &: $(COMMAND) $(DAEMON) scripts/make-manual $(wildcard scripts/manual/*.py) scripts/reference/roff.py \
    $(wildcard docs/*.md)
	scripts/make-manual

$(MAN3): $(wildcard include/*.h) scripts/make-reference $(wildcard docs/*.md) \
    $(wildcard scripts/manual/*.py scripts/reference/*.py scripts/schema/*.py) | setup-build
	scripts/make-reference man $@

$(BUILD)/examples/%: examples/c/%.c include/backhaul.h $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -o $@ $< $(EXAMPLE_LINK)

$(LOOPS): $(BUILD)/examples/%: examples/c/%.c $(wildcard examples/c/loop/*) include/backhaul.h $(LIBRARY)
	@mkdir -p $(@D)
	$(if $(filter-out glib,$*)$(GLIB),$(CC) $(C_FLAGS) -o $@ $< examples/c/loop/transfers.c $(EXAMPLE_LINK) \
	    $(if $(filter libuv,$*),-luv) $(if $(filter glib,$*),$(GLIB)),@echo 'GLib is missing; $@ is not built.')

examples: all $(EXAMPLES) ## build the examples in C

demo: ## the demonstration, one minute after the build: enqueue, kill, continue without a host, launch, compare
	@scripts/setup build demo
	@$(MAKE) --no-print-directory $(DAEMON) $(BUILD)/examples/collection
	@scripts/demo $(BUILD)/examples/collection

fleet-demo: ## one minute with three workers of a fleet: one is killed, one stopped, one cut off; compares the files
	@scripts/setup build test
	@$(MAKE) --no-print-directory $(COMMAND)
	@scripts/fleet-demo $(COMMAND)

test: ## everything that must hold, 13 to 22 minutes on two processors
	@scripts/setup build
	@scripts/test

# The index for editors would be a quarter of this build, and debug information a tenth. The build tool reads the index
# only to find tests with XCTest.
unit-tests: | setup-build
	swift build --scratch-path $(BUILD)/swift/debug --build-tests --disable-index-store -debug-info-format none

# The servers of the tests need most of the time, so this target leaves out the modules that talk to servers.
quick: | setup-build ## after a change: build, and run the unit tests that need no server, in under a minute
	@$(MAKE) --no-print-directory unit-tests
	@swift test --scratch-path $(BUILD)/swift/debug --skip-build --disable-xctest --enable-swift-testing \
	    --parallel --quiet --skip '^(EngineTests|TransportTests|ConditionsTests|UserManagerTests)\.'

format: ## format the Swift and C sources
	@scripts/setup build test
	@scripts/in-venv scripts/format

lint: ## check formats, and look for frequent faults in scripts and Python
	@scripts/setup build test
	@scripts/in-venv scripts/lint

soak: ## the long runs: random kills, hosts that exit in mid-transfer, valgrind, the sanitizers
	@scripts/setup build test
	@$(MAKE) --no-print-directory all
	@scripts/test soak

# The simulator loads the library, so it always runs the library that was built last.
$(SIMULATOR): $(wildcard Tests/Simulation/*.swift Tests/Simulation/*/*) | $(LIBRARY)
	swift build -c release --package-path Tests/Simulation --scratch-path $(BUILD)/swift/simulation \
	    -Xswiftc -static-stdlib -Xswiftc -use-ld=lld
	@mkdir -p $(@D)
	cp --remove-destination $(BUILD)/swift/simulation/release/simulate $@

SEED := 1
COUNT := 1000
simulate: ## run the library in a simulated world, with COUNT seeded histories from SEED on
	@$(MAKE) --no-print-directory $(LIBRARY) $(SIMULATOR)
	@$(SIMULATOR) --seed $(SEED) --count $(COUNT)

# A library with faults that were planted on purpose, one of which has an effect in each run.
PLANTED := $(BUILD)/planted/lib/libbackhaul.so.1
$(PLANTED): $(SWIFT_SOURCES) $(wildcard Tests/Simulation/planted/*) | setup-build
	Tests/Simulation/planted/plant
	$(subst $(BUILD)/swift/release,$(BUILD)/planted/swift,$(SWIFT_RELEASE)) --package-path $(BUILD)/planted/source \
	    $(LIBRARY_LINK) --product BackhaulLibrary
	@mkdir -p $(@D)
	cp --remove-destination $(BUILD)/planted/swift/release/libBackhaulLibrary.so $@

simulate-planted: ## search for the histories in which the simulator finds faults that were planted on purpose
	@$(MAKE) --no-print-directory $(LIBRARY) $(SIMULATOR) $(PLANTED)
	@Tests/Simulation/planted/search --count $(COUNT)

TARGET :=
SECONDS := 60
fuzz: | setup-build ## fuzz the parsers of foreign bytes: TARGET, or all, for SECONDS each
	@scripts/fuzz --seconds $(SECONDS) $(TARGET)

bench: ## time Backhaul beside curl, aria2c and wget2; chart and figures in build/bench.svg and .json
	@scripts/setup build test bench
	@$(MAKE) --no-print-directory $(LIBRARY) $(DAEMON)
	@scripts/in-venv bench/run

SITE_PYTHON := $(BUILD)/site-venv/bin/python

site: ## build the manual as a site, in build/site
	@scripts/setup build site
	@$(MAKE) --no-print-directory $(COMMAND)
	@scripts/in-venv $(SITE_PYTHON) -m reference site
	@$(SITE_PYTHON) scripts/make-site

site-test: site ## test the site: two builds, its links, its pages in Chromium, the programs of all pages
	@scripts/setup build test site-test
	@$(MAKE) --no-print-directory all
	@scripts/test site

packages: ## the Debian packages, the wheel and the tarball, in build/packages
	@case "$(CURDIR)" in *' '*) echo "The path of the checkout has a blank, and the configure script of libcurl" \
	    "refuses this; move the checkout to another folder." >&2; exit 1; esac
	@scripts/setup build packages
	@$(MAKE) --no-print-directory all $(MAN3) $(MANUAL)
	@packaging/make-packages $(VERSION)

packages-test: packages ## install the packages in bare systems, use, upgrade and remove them; half an hour
	@scripts/setup test
	@scripts/test packages

# Installed programs and the pkg-config file have the path, so it must not depend on the present folder.
check-prefix:
	@case '$(PREFIX)' in /*) ;; *) echo "PREFIX is '$(PREFIX)', a relative path; give an absolute path." >&2; exit 1; esac
	@case '$(PREFIX)' in ?*/) echo "PREFIX is '$(PREFIX)'; leave out the slash at its end." >&2; exit 1; esac
	@case '$(LIBDIR)' in '$(PREFIX)'/*) ;; *) echo "LIBDIR is '$(LIBDIR)', which is not below PREFIX." >&2; exit 1; esac

install: check-prefix all $(MAN3) $(MANUAL) ## install below PREFIX (default /usr/local), inside DESTDIR
	@packaging/files | packaging/place install '$(PREFIX)' '$(LIBDIR)' $(VERSION) '$(DESTDIR)'
	$(if $(DESTDIR),,@packaging/reload-ld install '$(LIBDIR)')

# Without DESTDIR, the record of the installation names the files, so `uninstall` does not need their list.
uninstall: check-prefix ## remove what `make install` has put there, with the same PREFIX and DESTDIR
	@$(if $(DESTDIR),files=$$(packaging/files) && printf '%s\n' "$$files" |) \
	    packaging/place uninstall '$(PREFIX)' '$(LIBDIR)' $(VERSION) '$(DESTDIR)'
	$(if $(DESTDIR),,@packaging/reload-ld uninstall '$(LIBDIR)')

clean: ## remove everything that was built
	rm -rf $(BUILD) .build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
