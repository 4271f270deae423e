# TabletFS: make, make check, make demo. See README.md.
#
# SAN=address,undefined or SAN=thread builds the same things with sanitizers,
# under a directory of their own.

SAN ?=
comma := ,
B := build$(if $(SAN),/san-$(firstword $(subst $(comma), ,$(SAN))))
PREFIX ?= /usr/local
SBINDIR ?= /sbin
UNITDIR ?= $(PREFIX)/lib/systemd/system

VERSION := $(shell sed '1s/.*(\(.*\)).*/\1/; q' tools/package/changelog)
CC ?= gcc
LIBS := fuse3 liblz4 libisal yajl libpcre2-8 libsystemd
LIB_CFLAGS = $(shell pkg-config --cflags $(LIBS))
LIB_LDFLAGS = $(shell pkg-config --libs $(LIBS)) -pthread -lm
WARN := -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion \
	-Wno-sign-conversion -Wdeclaration-after-statement \
	-Wmissing-prototypes -Wold-style-definition -Wpointer-arith \
	-Wstrict-prototypes -Wvla -Wwrite-strings
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DFUSE_USE_VERSION=314 -I. $(WARN) -fno-common -pthread $(CFLAGS) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer \
	-fno-sanitize-recover=all) $(LIB_CFLAGS)
ALL_LDFLAGS = $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)

STORE := $(sort $(shell find store -name "*.c"))
FS := $(sort $(shell find fs -name "*.c"))
TOOLS := $(sort $(shell find tools -name "*.c"))
SIM := $(filter-out $(wildcard tests/sim/main_*.c),$(wildcard tests/sim/*.c))
UNIT := $(wildcard tests/unit/test_*.c)
MAINS := $(wildcard tests/sim/main_*.c tests/fault/main_*.c \
	tests/bench/*.c tests/fs/*.c)
FUZZ := $(wildcard tests/fuzz/fuzz_*.c)
CONFORMANCE := $(wildcard tests/conformance/*.c)
BENCH_ENGINE := $(wildcard tests/bench/engine/*.c)

# Short lines; V=1 shows the commands.
say = $(if $(V),,@echo '  $(1) $@';)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
UNIT_BIN := $(patsubst %.c,$(B)/%,$(UNIT))
MAIN_BIN := $(patsubst %.c,$(B)/%,$(MAINS))
FUZZ_BIN := $(patsubst %.c,$(B)/%,$(FUZZ))
PROGRAMS := $(B)/tabletfs $(if $(CONFORMANCE),$(B)/tests/conformance)

.PHONY: all build deps check check-built check-fault check-fs-long canary \
	demo fuzz lint \
	bench bench-engine bench-fs bench-large install install-files clean
.SECONDARY:

all: deps
	@$(MAKE) --no-print-directory build

# Libraries and tools from Debian, only what is missing.
deps:
	@tools/install-packages tools/packages

build: $(PROGRAMS)

check: deps
	@tools/install-packages tests/packages
	@$(MAKE) --no-print-directory check-built

check-built: build $(UNIT_BIN) $(MAIN_BIN) $(FUZZ_BIN)
	@B=$(B) SAN=$(SAN) tests/run

# The long campaign of faults and crashes; SEED=N gives another one.
check-fault: build $(MAIN_BIN) $(B)/tests/unit/test_filters
	@B=$(B) tests/check-fault

# The long campaign on a mount; SEED, and PARTS of it: see the script.
check-fs-long: deps
	@tools/install-packages tests/packages tests/packages-fs-long
	@$(MAKE) --no-print-directory build $(MAIN_BIN)
	@B=$(B) tests/check-fs-long

# Builds with planted bugs, each of which a test has to catch.
canary: deps
	@tools/install-packages tests/packages
	@tests/canary/run

demo: deps
	@$(MAKE) --no-print-directory build
	@tools/demo $(B)/tabletfs

lint: all
	@tools/install-packages tests/packages-lint
	@B=$(B) tests/lint

bench: deps
	@$(MAKE) --no-print-directory build $(MAIN_BIN)
	@B=$(B) tests/bench/run

# Beside what FUSE itself permits, and a local filesystem.
bench-fs: deps
	@$(MAKE) --no-print-directory build $(MAIN_BIN)
	@B=$(B) tests/bench/run-fs

# A table of 100 million cells: loaded, listed, read, and the memory for it.
bench-large: deps
	@$(MAKE) --no-print-directory build
	@B=$(B) tests/bench/run-large

# Beside other engines, whose libraries nothing else needs.
bench-engine: deps
	@tools/install-packages tests/packages-bench
	@$(MAKE) --no-print-directory $(B)/tests/bench-engine
	@B=$(B) tests/bench/run-engine

# mount(8) looks for its helpers in /sbin only.
install: all
	@$(MAKE) --no-print-directory install-files

install-files:
	install -D $(B)/tabletfs $(DESTDIR)$(PREFIX)/bin/tabletfs
	install -d $(DESTDIR)$(SBINDIR)
	ln -sf $(PREFIX)/bin/tabletfs $(DESTDIR)$(SBINDIR)/mount.fuse.tabletfs
	$(foreach n,1 5,sed 's,@VERSION@,$(VERSION),' \
		tools/package/tabletfs.$(n) | install -D -m 644 /dev/stdin \
		$(DESTDIR)$(PREFIX)/share/man/man$(n)/tabletfs.$(n) &&) true
	install -D -m 644 tools/package/tabletfs.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/tabletfs
	install -d $(DESTDIR)$(UNITDIR)
	sed 's,@PREFIX@,$(PREFIX),' tools/package/tabletfs@.service.in \
		>$(DESTDIR)$(UNITDIR)/tabletfs@.service

clean:
	rm -rf build

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# What tells the version, and so is compiled again when that is another.
TELLING := $(call obj,$(shell grep -l TABLETFS_VERSION $(FS) $(TOOLS) $(UNIT)))
$(TELLING): ALL_CFLAGS += -DTABLETFS_VERSION='"$(VERSION)"'
$(TELLING): tools/package/changelog

$(B)/libstore.a: $(call obj,$(STORE))
	@rm -f $@
	$(call say,AR  )ar rcs $@ $^

$(B)/libfs.a: $(call obj,$(FS) $(filter-out tools/main.c,$(TOOLS)))
	@rm -f $@
	$(call say,AR  )ar rcs $@ $^

$(B)/libsim.a: $(call obj,$(SIM))
	@rm -f $@
	$(call say,AR  )ar rcs $@ $^

$(B)/tabletfs: $(call obj,tools/main.c) $(B)/libfs.a $(B)/libstore.a
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS)

$(B)/tests/conformance: $(call obj,$(CONFORMANCE)) $(B)/libsim.a \
		$(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS)

$(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(B)/libsim.a $(B)/libfs.a \
		$(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS) \
		$(shell pkg-config --libs check)

$(MAIN_BIN): $(B)/%: $(B)/obj/%.o $(B)/libsim.a $(B)/libfs.a $(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS)

# Its system calls go through tests/sim/disk.c.
$(B)/tests/fault/main_posix: ALL_LDFLAGS += $(addprefix -Wl$(comma)--wrap=, \
	open64 openat64 close closedir read write pread64 pwrite64 fsync fdatasync \
	ftruncate64 renameat2 linkat unlinkat)

$(FUZZ_BIN): $(B)/%: $(B)/obj/%.o $(B)/obj/tests/fuzz/replay.o $(B)/libfs.a \
		$(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS)

$(B)/tests/bench-engine: $(call obj,$(BENCH_ENGINE)) $(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS) \
		-lrocksdb -lleveldb -llmdb -lsqlite3

# With libFuzzer, for FUZZ_SECONDS each; finds go to the corpus by hand.
fuzz: deps
	@tools/install-packages tests/packages-fuzz
	@tests/fuzz/run

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
