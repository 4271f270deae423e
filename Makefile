# TabletFS: make, make check, make demo. See README.md.
#
# make help shows the first line of the comment above a target or a variable.

# address,undefined or thread: build with sanitizers
SAN ?=
# Words: check suites whose name has one of them in it
T ?=
# A number: what is random in suites and campaigns
SEED ?=
# 1: show the commands of the build
V ?=
# Where make install puts things, below DESTDIR
PREFIX ?= /usr/local
# Not every shell knows ~ there.
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
# mount(8) and systemd look in these places alone; below another prefix, such as
# ~/.local, what is installed is one user's, and needs no root.
IS_SYSTEM := $(filter /usr /usr/% /opt /opt/%,$(PREFIX))
SBINDIR ?= $(if $(IS_SYSTEM),/sbin,$(PREFIX)/sbin)
UNITDIR ?= $(PREFIX)/$(if $(IS_SYSTEM),lib/systemd/system,share/systemd/user)
UNIT_EDIT := s,@PREFIX@,$(PREFIX),$(if $(IS_SYSTEM),,; \
	/^User=/d; s/multi-user/default/)
UNITS := tabletfs@.service tabletfs-serve@.service tabletfs-serve@.socket
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
DOCDIR := $(PREFIX)/share/doc/tabletfs

comma := ,
B := build$(if $(SAN),/san-$(firstword $(subst $(comma), ,$(SAN))))
VERSION := $(shell sed '1s/.*(\(.*\)).*/\1/; q' tools/package/changelog)
CC ?= gcc
LIBS := fuse3 liblz4 libisal yajl libpcre2-8 libsystemd libnghttp2
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

RADOS := $(sort $(wildcard store/base/rados/*.c store/base/rados/*/*.c))
STORE := $(filter-out $(RADOS),$(sort $(shell find store -name "*.c")))
FS := $(sort $(shell find fs -name "*.c"))
TOOLS := $(sort $(shell find tools -name "*.c"))
# The second ones are what help, manual and the first refer to.
TOPICS := $(sort $(wildcard tools/doc/*.md))
PAGES := $(TOPICS) README.md tools/README.md fs/README.md store/README.md \
	store/model/README.md
SIM := $(filter-out $(wildcard tests/sim/main_*.c tests/soak/main_*.c), \
	$(wildcard tests/sim/*.c tests/soak/*.c))
UNIT := $(wildcard tests/unit/test_*.c)
MAINS := $(wildcard tests/sim/main_*.c tests/soak/main_*.c \
	tests/fault/main_*.c \
	tests/bench/*.c tests/fs/*.c tests/wire/*.c)
FUZZ := $(wildcard tests/fuzz/fuzz_*.c)
CONFORMANCE := $(wildcard tests/conformance/*.c)
BENCH_ENGINE := $(wildcard tests/bench/engine/*.c)
BENCH_TIME := $(wildcard tests/bench/time/*.c)

# Patterns beside RE2 itself, where that is installed.
RE2_BIN := $(if $(shell command -v g++),$(if $(shell pkg-config --exists re2 && \
	echo yes),$(B)/tests/re2/compare))

# Short lines; V=1 shows the commands.
say = $(if $(V),,@echo '  $(1) $@';)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
OBJECTS := $(call obj,$(STORE) $(RADOS) $(FS) $(TOOLS) $(SIM) $(UNIT) \
	$(MAINS) $(wildcard tests/ceph/*.c) $(FUZZ) tests/fuzz/replay.c \
	$(CONFORMANCE) $(BENCH_ENGINE) $(BENCH_TIME))
UNIT_BIN := $(patsubst %.c,$(B)/%,$(UNIT))
MAIN_BIN := $(patsubst %.c,$(B)/%,$(MAINS))
FUZZ_BIN := $(patsubst %.c,$(B)/%,$(FUZZ))
PROGRAMS := $(B)/tabletfs $(if $(CONFORMANCE),$(B)/tests/conformance)

# Stores in a pool of Ceph: a plugin, for those who have librados-dev.
RADOS_SO := $(B)/tabletfs-rados.so
RADOS_LIBS = $(shell pkg-config --libs yajl) -lrados
CEPH := $(patsubst %,$(B)/tests/ceph/%,test_volume_contract \
	test_volume_lease test_pool owner)

# What make check builds: with T what has one of its words in its name, and what
# the scripts on a mount need.
CHECKED := $(UNIT_BIN) $(MAIN_BIN) $(FUZZ_BIN) $(RE2_BIN)
CHECKED := $(if $(T),$(sort $(filter $(B)/tests/fs/%,$(CHECKED)) \
	$(foreach t,$(T),$(foreach bin,$(CHECKED),$(if $(findstring \
	$(t),$(bin:$(B)/tests/%=%)),$(bin))))),$(CHECKED))

.PHONY: all help build deps check check-built check-ceph check-deb check-fault \
	check-fs-long check-hacking check-kernel check-serve-long check-soak \
	check-wire canary demo fuzz lint compile_commands.json bench \
	bench-ceph bench-engine bench-fs bench-heat bench-import bench-large \
	bench-serve bench-time install install-files rados uninstall deb clean
.SECONDARY:

# The program, build/tabletfs; installs what it needs
all: deps
	@$(MAKE) --no-print-directory build

# This list
help:
	@echo 'make [TARGET] [VARIABLE=VALUE]'
	@awk '/^#/ { if (text == "") text = substr($$0, 3); next } \
		text != "" && match($$0, /^[A-Za-z][A-Za-z_.-]*( [?]=|:)/) { \
			name = substr($$0, 1, RLENGTH); sub(/ [?]|:/, "", name); \
			printf "  %-22s %s\n", name, text } \
		{ text = "" }' Makefile

# The Debian packages for that, those that are missing
deps:
	@tools/install-packages tools/packages

# As all, with the packages that there are
build: $(PROGRAMS)

# Every suite, or those of T; installs what they need
check: deps
	@tools/install-packages tests/packages
	@$(MAKE) --no-print-directory check-built

# As check, with the packages that there are
check-built: build $(CHECKED)
	@B=$(B) SAN=$(SAN) tests/run

# The campaign of faults and crashes, some ten minutes
check-fault: build $(MAIN_BIN) $(B)/tests/unit/test_filters
	@B=$(B) tests/check-fault

# Workloads that go on, minutes of each
# SECONDS of each, SEED, PARTS: see tests/check-soak.
check-soak: deps
	@tools/install-packages tests/packages
	@$(MAKE) --no-print-directory build $(MAIN_BIN)
	@B=$(B) SAN=$(SAN) SOAK_SECONDS=$(SECONDS) tests/check-soak

# The campaign on a mount, half an hour
check-fs-long: deps
	@tools/install-packages tests/packages tests/packages-fs-long
	@$(MAKE) --no-print-directory build $(MAIN_BIN)
	@B=$(B) tests/check-fs-long

# The campaign of the network, twenty minutes
check-serve-long: deps
	@tools/install-packages tests/packages
	@$(MAKE) --no-print-directory build $(filter $(B)/tests/fs/%,$(MAIN_BIN))
	@B=$(B) tests/check-serve-long

# The scripts on a mount, on Debian 12's kernel, in qemu
check-kernel: deps
	@tools/install-packages tests/packages tests/packages-kernel
	@$(MAKE) --no-print-directory build $(filter $(B)/tests/fs/%,$(MAIN_BIN))
	@B=$(B) T="$(T)" SEED=$(SEED) tests/kernel/run

# Every command of tools/HACKING.md, five minutes
check-hacking: deps
	@tools/install-packages tests/packages
	@tests/check-hacking

# The package in a clean Debian 12, as root; ten minutes
check-deb: deps
	@tools/install-packages tests/packages-check-deb
	@B=$(B) tests/check-deb

# The plugin for stores in a pool of Ceph
rados: deps
	@tools/install-packages tools/packages-rados
	@$(MAKE) --no-print-directory build $(RADOS_SO)

# Stores in a pool of Ceph, on a cluster of its own
check-ceph: deps
	@if tools/install-packages tools/packages-rados tests/packages-ceph; then \
		$(MAKE) --no-print-directory build $(RADOS_SO) $(CEPH) \
			$(filter $(B)/tests/fs/%,$(MAIN_BIN)) && \
		B=$(B) T="$(T)" SEED=$(SEED) tests/ceph/run; else \
		echo 'skipped: ceph-osd cannot be installed here' && \
		echo '0 passed, 0 failed, 1 skipped'; fi

# Google's own clients beside tabletfs serve
check-wire: deps
	@tools/install-packages tests/packages
	@$(MAKE) --no-print-directory build \
		$(filter $(B)/tests/fs/% $(B)/tests/wire/%,$(MAIN_BIN))
	@B=$(B) tests/run tests/wire/*.sh

# Builds with planted bugs, which a test has to catch
canary: deps
	@tools/install-packages tests/packages
	@tests/canary/run

# A tour on this machine's package index
demo: deps
	@$(MAKE) --no-print-directory $(B)/tabletfs
	@tools/demo $(B)/tabletfs

# What holds the code together and no compiler checks
lint: all
	@tools/install-packages tests/packages-lint tools/packages-rados
	@$(MAKE) --no-print-directory $(RADOS_SO)
	@B=$(B) tests/lint

# What the store costs
bench: deps
	@$(MAKE) --no-print-directory build $(MAIN_BIN)
	@B=$(B) tests/bench/run

# What a mount costs, beside FUSE and a local filesystem
bench-fs: deps
	@$(MAKE) --no-print-directory build $(MAIN_BIN)
	@B=$(B) tests/bench/run-fs

# What a table of 100 million cells costs
bench-large: deps
	@$(MAKE) --no-print-directory build
	@B=$(B) tests/bench/run-large

# What the store costs, beside other engines
bench-engine: deps
	@tools/install-packages tests/packages-bench
	@$(MAKE) --no-print-directory $(B)/tests/bench-engine
	@B=$(B) tests/bench/run-engine

# What a store in a pool of Ceph costs
bench-ceph: deps
	@tools/install-packages tools/packages-rados tests/packages-ceph
	@$(MAKE) --no-print-directory build $(RADOS_SO) $(B)/tests/bench/fsclient
	@B=$(B) BENCH=1 tests/ceph/run

# What samples for heat maps cost, in instructions
bench-heat: deps
	@tools/install-packages tests/packages-debug
	@$(MAKE) --no-print-directory $(B)/tests/bench/heat
	@B=$(B) tests/bench/run-heat

# Imports beside sqlite3 and cbt, some minutes
bench-import: all
	@B=$(B) tests/bench/run-import

# What tabletfs serve costs, beside Google's emulator
bench-serve: deps
	@$(MAKE) --no-print-directory build $(B)/tests/bench/wireload
	@B=$(B) tests/bench/run-serve

# What time does to the store and its peers, half an hour
bench-time: deps
	@tools/install-packages tests/packages-bench
	@$(MAKE) --no-print-directory $(B)/tests/bench-time
	@B=$(B) tests/bench/run-time

# The program, its pages, completion and units
install: deps
	@$(MAKE) --no-print-directory $(B)/tabletfs
	@$(MAKE) --no-print-directory install-files

# As install, with what is built
#
# The manual pages are made of what the program says; mount(8) looks for its
# helpers in /sbin only.
install-files:
	install -D $(B)/tabletfs $(DESTDIR)$(PREFIX)/bin/tabletfs
	install -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(UNITDIR)
	ln -sf $(PREFIX)/bin/tabletfs $(DESTDIR)$(SBINDIR)/mount.fuse.tabletfs
	$(foreach n,1 5,tools/package/man $(B)/tabletfs $(VERSION) $(PREFIX) \
		<tools/package/tabletfs.$(n) | install -D -m 644 /dev/stdin \
		$(DESTDIR)$(PREFIX)/share/man/man$(n)/tabletfs.$(n) &&) true
	install -D -m 644 tools/package/tabletfs.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/tabletfs
	install -D -m 644 tools/package/tabletfs.rules.yml \
		$(DESTDIR)$(PREFIX)/share/tabletfs/tabletfs.rules.yml
	install -D -m 644 tools/package/tabletfs.zsh $(DESTDIR)$(ZSHDIR)/_tabletfs
	$(if $(wildcard $(RADOS_SO)),install -D -m 644 $(RADOS_SO) \
		$(DESTDIR)$(PREFIX)/lib/tabletfs/tabletfs-rados.so)
	$(foreach page,$(PAGES),install -D -m 644 $(page) \
		$(DESTDIR)$(DOCDIR)/$(page:tools/doc/%=%) &&) true
	$(foreach unit,$(UNITS),sed '$(UNIT_EDIT)' tools/package/$(unit).in \
		>$(DESTDIR)$(UNITDIR)/$(unit) &&) true

# Remove what make install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/tabletfs \
		$(DESTDIR)$(SBINDIR)/mount.fuse.tabletfs \
		$(foreach n,1 5,$(DESTDIR)$(PREFIX)/share/man/man$(n)/tabletfs.$(n)) \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/tabletfs \
		$(DESTDIR)$(PREFIX)/share/tabletfs/tabletfs.rules.yml \
		$(DESTDIR)$(ZSHDIR)/_tabletfs \
		$(UNITS:%=$(DESTDIR)$(UNITDIR)/%)
	rm -rf $(DESTDIR)$(DOCDIR) $(DESTDIR)$(PREFIX)/lib/tabletfs
	[ ! -d $(DESTDIR)$(PREFIX)/share/tabletfs ] || \
		rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/share/tabletfs

# A Debian package, in build/deb
deb: deps
	@tools/install-packages tests/packages-deb
	@$(MAKE) --no-print-directory $(B)/tabletfs
	@B=$(B) VERSION=$(VERSION) tools/package/deb

# Remove all that was built
clean:
	rm -rf build compile_commands.json

# How each file is compiled, for editors and clangd
compile_commands.json:
	@$(MAKE) -nB --no-print-directory V=1 $(OBJECTS) | awk -v dir='$(CURDIR)' \
		'/ -c -o / { file = $$NF; gsub(/["\\]/, "\\\\&"); \
		printf "%s{ \"directory\": \"%s\", \"file\": \"%s\",\n" \
		"  \"command\": \"%s\" }", comma, dir, file, $$0; comma = ",\n" } \
		BEGIN { print "[" } END { print "\n]" }' >$@

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The pages are part of the program.
$(call obj,tools/topic.c): $(TOPICS)

# What tells the version, and so is compiled again when that is another.
TELLING := $(call obj,$(shell grep -l TABLETFS_VERSION $(STORE) $(RADOS) \
	$(FS) $(TOOLS) $(UNIT)))
$(TELLING): ALL_CFLAGS += -DTABLETFS_VERSION='"$(VERSION)"'
$(TELLING): tools/package/changelog

$(B)/libstore.a: $(call obj,$(STORE))
	$(call say,AR  )rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@

$(B)/libfs.a: $(call obj,$(FS) $(filter-out tools/main.c,$(TOOLS)))
	$(call say,AR  )rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@

$(B)/libsim.a: $(call obj,$(SIM))
	$(call say,AR  )rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@

# Plugins call what is in it.
$(B)/tabletfs: $(call obj,tools/main.c) $(B)/libfs.a $(B)/libstore.a
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -rdynamic -o $@ $^ $(LIB_LDFLAGS)

$(call obj,$(RADOS)): ALL_CFLAGS += -fPIC
$(RADOS_SO): $(call obj,$(RADOS))
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -shared -o $@ $^ $(RADOS_LIBS)

# The same suites as of other volumes, and the plugin's own.
$(B)/obj/tests/ceph/test_pool.o: ALL_CFLAGS += -DKIND_RADOS
$(B)/obj/tests/ceph/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(ALL_CFLAGS) -DKIND_RADOS -MMD -MP -c -o $@ $<

$(CEPH): $(B)/%: $(B)/obj/%.o $(call obj,$(RADOS)) $(B)/libsim.a $(B)/libfs.a \
		$(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS) \
		$(RADOS_LIBS) $(shell pkg-config --libs check)

$(B)/tests/conformance: $(call obj,$(CONFORMANCE)) $(B)/libsim.a \
		$(B)/libfs.a $(B)/libstore.a
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
$(addprefix $(B)/tests/fault/main_,posix backups): ALL_LDFLAGS += $(addprefix -Wl$(comma)--wrap=, \
	open64 openat64 close closedir read write pread64 pwrite64 fsync fdatasync \
	ftruncate64 renameat2 linkat unlinkat)

$(FUZZ_BIN): $(B)/%: $(B)/obj/%.o $(B)/obj/tests/fuzz/replay.o \
		$(B)/libsim.a $(B)/libfs.a $(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS)

$(B)/tests/re2/compare: tests/re2/compare.cc $(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,C++ )g++ -Wall -Wextra -O1 $(if $(SAN),-fsanitize=$(SAN)) \
		-o $@ $^ $(shell pkg-config --libs re2) $(LIB_LDFLAGS)

$(B)/tests/bench-engine: $(call obj,$(BENCH_ENGINE)) $(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS) \
		-lrocksdb -lleveldb -llmdb -lsqlite3

$(B)/tests/bench-time: $(call obj,$(BENCH_TIME) tests/bench/engine/bench.c \
		$(patsubst %,tests/bench/engine/peer_%.c,tabletfs rocksdb \
		leveldb)) $(B)/libstore.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LDFLAGS) \
		-lrocksdb -lleveldb -lm

# Every parser under libFuzzer, FUZZ_SECONDS (60) each
fuzz: deps
	@tools/install-packages tests/packages-fuzz
	@tests/fuzz/run

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
