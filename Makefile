# Every way into the project. Everything that is built lies in build/.

PREFIX ?= /usr/local
DESTDIR ?=

BUILD := build
LIBRARY := $(BUILD)/lib/libbackhaul.so.0
COMMAND := $(BUILD)/bin/backhaul
DAEMON := $(BUILD)/libexec/backhaul/backhauld
SWIFT_SOURCES := $(shell find Sources include -type f) Package.swift packaging/symbols.map
VERSION := $(shell awk '/define BH_VERSION_(MAJOR|MINOR|PATCH)/ {printf "%s%s", d, $$3; d = "."}' include/backhaul.h)

# The Swift runtime is linked in, so that nothing needs Swift where it runs. lld, because gold leaves local symbols of
# the modules in the table of exports.
# A library in somebody's process had better be small: each function has a section of its own, so that those which
# nobody calls are left out, identical ones are folded, and relocations packed, which glibc reads from version 2.36 on.
# That makes the room for -O, which saves a fifth of the loop's instructions for small files over -Osize.
# That accesses to one variable do not overlap is checked in debug builds: it would be a trap in somebody's process.
SWIFT_RELEASE := swift build -c release --scratch-path $(BUILD)/swift/release --disable-local-rpath \
    -Xswiftc -static-stdlib -Xswiftc -use-ld=lld -Xswiftc -Xfrontend -Xswiftc -function-sections \
    -Xswiftc -enforce-exclusivity=unchecked -Xlinker --gc-sections -Xlinker --icf=all
ifeq ($(shell printf '2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)" | sort -V | head -n 1),2.36)
SWIFT_RELEASE += -Xlinker -z -Xlinker pack-relative-relocs
endif
# Sources/BackhaulPlatform/ScalarNames.swift says why a function of the runtime is replaced.
LIBRARY_LINK := -Xlinker --version-script=$(CURDIR)/packaging/symbols.map -Xlinker -soname=libbackhaul.so.0 \
    -Xlinker -z -Xlinker nodelete -Xlinker --wrap=_swift_stdlib_getScalarName

EXAMPLES := $(patsubst examples/c/%.c,$(BUILD)/examples/%,$(wildcard examples/c/*.c))

# The toolchain's own clang, which the set-up need not install. Asked for only when something is compiled with it.
CC = $(shell scripts/toolchain)/bin/clang
C_FLAGS := -std=c11 -O2 -g -Wall -Wextra -Werror -pedantic -Iinclude

.PHONY: all examples demo test soak bench install clean help setup-build

all: $(LIBRARY) $(COMMAND) $(DAEMON) ## build the library, the command line and the daemon

setup-build:
	@scripts/setup build

$(LIBRARY): $(SWIFT_SOURCES) | setup-build
	$(SWIFT_RELEASE) $(LIBRARY_LINK) --product BackhaulLibrary
	@mkdir -p $(@D)
	cp $(BUILD)/swift/release/release/libBackhaulLibrary.so $@
	@ln -sf libbackhaul.so.0 $(@D)/libbackhaul.so

# One after the other, not beside each other: they come out of one scratch folder.
$(COMMAND): $(SWIFT_SOURCES) $(LIBRARY)
	$(SWIFT_RELEASE) --product backhaul
	@mkdir -p $(@D)
	cp $(BUILD)/swift/release/release/backhaul $@

$(DAEMON): $(SWIFT_SOURCES) $(LIBRARY) $(COMMAND)
	$(SWIFT_RELEASE) --product backhauld
	@mkdir -p $(@D)
	cp -f $(BUILD)/swift/release/release/backhauld $@

$(BUILD)/examples/%: examples/c/%.c include/backhaul.h $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -o $@ $< -L$(BUILD)/lib -lbackhaul -Wl,-rpath,'$$ORIGIN/../lib'

examples: all $(EXAMPLES) ## build the examples in C

demo: ## the story in one minute: hand over, kill, go on without a host, launch, compare
	@scripts/setup build demo
	@$(MAKE) --no-print-directory $(DAEMON) $(BUILD)/examples/collection
	@scripts/demo $(BUILD)/examples/collection

test: ## everything that must hold, under 15 minutes
	@scripts/setup build test
	@$(MAKE) --no-print-directory all $(EXAMPLES)
	@scripts/test

soak: ## the long runs: random kills, hosts that exit in mid-transfer, valgrind
	@scripts/setup build test
	@$(MAKE) --no-print-directory all
	@scripts/test soak

bench: ## time Backhaul beside curl, aria2c and wget2
	@scripts/setup build test bench
	@$(MAKE) --no-print-directory $(LIBRARY) $(DAEMON)
	@scripts/in-venv bench/run

install: all ## install below PREFIX (default /usr/local), inside DESTDIR
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/backhaul $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib/libbackhaul.so.0
	strip --strip-unneeded $(DESTDIR)$(PREFIX)/lib/libbackhaul.so.0
	ln -sf libbackhaul.so.0 $(DESTDIR)$(PREFIX)/lib/libbackhaul.so
	install -m 755 $(COMMAND) $(DESTDIR)$(PREFIX)/bin/backhaul
	strip $(DESTDIR)$(PREFIX)/bin/backhaul
	install -d $(DESTDIR)$(PREFIX)/libexec/backhaul
	install -m 755 $(DAEMON) $(DESTDIR)$(PREFIX)/libexec/backhaul/backhauld
	strip $(DESTDIR)$(PREFIX)/libexec/backhaul/backhauld
	install -m 644 include/backhaul.h $(DESTDIR)$(PREFIX)/include/backhaul.h
	# In a folder of its own: a module map in include/ itself would speak for every header there.
	sed 's|"backhaul.h"|"../backhaul.h"|' include/module.modulemap >$(DESTDIR)$(PREFIX)/include/backhaul/module.modulemap
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' packaging/backhaul.pc.in \
	    >$(DESTDIR)$(PREFIX)/lib/pkgconfig/backhaul.pc

clean: ## remove everything that was built
	rm -rf $(BUILD) .build

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
