# Arbor's build. Everything it makes is under build/.
#
#   make          the program, build/release/arbor
#   make lib      the library, build/release/libarbor.a and .so (docs/LIBRARY.md)
#   make profile  train the compiler anew (below); done by itself before the first build
#   make run      build, mirror ~/.claude (or demo/), show what is there
#   make test     all tests: plain and under ASan+UBSan, threads under TSan; samples of what is random or large
#   make asan     the tests under ASan+UBSan only;  make tsan  under TSan only
#   make test-real  agents driven with real clients, against a scripted API
#   make lint     layers, headers, globals, clang-tidy, cppcheck, both compilers
#   make fuzz     each fuzz target for FUZZ_SECONDS (default 600)
#   make test-long  the same without taking samples, and thousands of random lineages of conversations, lives of trees
#                 and purges, agents killed at 200 moments, searches of the corpus and its handles, compared with oracles
#   make torture  the long crash, fault and race tests, these lineages among them
#   make bench    speed and size, as ratios against other programs
#   make dist     a source archive that builds without npm
#   make man      manual pages and completions, below build/man
#   make install  PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=
#   make deps     install what is missing (called by the others when needed)
#   make clean    remove what was built;  make distclean  downloads too
#
# A build is a *mode*: a folder below build/ with its own compiler and flags.
# The rules for all modes are generated below from one template.

VERSION := $(shell cat VERSION)
# In the name of the shared library: rises when a program built for an older one would not
# work any more.
SOVERSION := 0
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
FUZZ_SECONDS ?= 600
V ?= 0
Q  = $(if $(filter 1,$(V)),,@)
comma := ,

MODES := release dev clang asan tsan fuzz train

# On all processors, unless somebody says otherwise, or has said so above us.
ifeq ($(filter -j%,$(MAKEFLAGS))$(filter-out 0,$(MAKELEVEL)),)
MAKEFLAGS += -j$(shell nproc)
endif

# ---- Flags ------------------------------------------------------------------

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wold-style-definition -Wvla -Wformat=2 -Wundef -Wcast-qual \
        -Wwrite-strings -Wpointer-arith -Wdouble-promotion -Wnull-dereference -Wswitch-enum \
        -fno-common
CF_PROTECTION := $(if $(filter x86_64 i686,$(shell uname -m)),-fcf-protection)
HARDEN := -fstack-protector-strong -fstack-clash-protection $(CF_PROTECTION) \
          -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
LINK_HARDEN := -pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack
ARBOR_CPP = -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DARBOR_VERSION='"$(VERSION)"' -Iinclude -Isrc -Ibuild/gen $(SQLITE_CPP) \
            -fPIC -fvisibility=hidden -MMD -MP $(CPPFLAGS)
# -fPIC: program and shared library are made of the same objects. With everything hidden it costs
# no more than -fPIE.
# Linked in where the system has them so, the release also with the C library: a program
# that is started for every search saves a tenth of its time. STATIC_LIBS=0 is for packagers.
STATIC_LIBS ?= 1
static = $(and $(filter 1,$(STATIC_LIBS)),$(filter /%,$(shell $(CC) -print-file-name=lib$(1).a 2>/dev/null)))
lib  = $(if $(call static,$(1)),-l:lib$(1).a,-l$(1))
# Debian calls libuv's static form libuv_a.a, others libuv.a.
UV := $(if $(call static,uv_a),uv_a,uv)
OWN_LIBS := $(call lib,utf8proc) $(call lib,zstd) $(call lib,$(UV))
WHOLLY := $(if $(filter 1,$(SYSTEM_SQLITE)),,$(and $(call static,c),$(call static,utf8proc),$(call static,zstd),$(call static,$(UV))))
# libuv can ask who a user is. Nothing here does, and a program linked statically could not:
# whoever calls it after all is stopped.
NO_USER_LISTS := -Wl,--wrap=getpwuid_r,--defsym=__wrap_getpwuid_r=abort
# Addresses that depend on where the program lies are put right at every start. As a bitmap instead of 24 bytes each the list
# of them is a seventieth: a search takes a fortieth less. The linker has to know how to write that, and the C library
# inside (glibc 2.36) how to read it.
SHORT_RELOCATIONS := $(and $(WHOLLY),$(shell printf '%s\n' '#include <features.h>' '#ifdef __GLIBC__' '#if __GLIBC_PREREQ(2, 36)' yes '#endif' '#endif' | \
  $(CC) -E -P - 2>/dev/null | grep -x yes),$(shell $(CC) -Wl,--help 2>/dev/null | grep -o pack-relative-relocs | head -1),-Wl$(comma)-z$(comma)pack-relative-relocs)
LIBS  = $(OWN_LIBS) -lpthread -lm $(SQLITE_LIBS)
# The shared library needs those of the system: static ones are mostly not made for being in
# another. Ours has them inside, as the program does; what it has not, its user has to link.
SHARED_LIBS = -lutf8proc -lzstd -luv -lpthread -lm $(SQLITE_LIBS)
INSIDE_LIBS := $(filter -l:%,$(OWN_LIBS))
PRIVATE_LIBS = $(strip $(filter-out -l:%,$(OWN_LIBS)) -lpthread -lm $(SQLITE_LIBS))

CC ?= cc
CC_release := $(CC)
CC_train   := $(CC)
CC_dev     := gcc
CC_clang   := clang
CC_asan    := gcc
CC_tsan    := gcc
CC_fuzz    := clang

# The release is compiled twice. The first program counts which ways it takes while it mirrors and searches made-up
# conversations (tools/train.sh); the second is laid out by these counts, and as a whole. It syncs and searches in
# a tenth less time. What was never run is kept small and apart. Counts stay until `make profile` or `make clean`: functions that
# have changed since do without them. PROFILE=0 is for packagers whose builds must be the same every time; other
# compilers than gcc do without, too.
PROFILE ?= 1
TRAINED := $(and $(filter 1,$(PROFILE)),$(shell echo __GNUC__ __clang__ | $(CC) -E -P - 2>/dev/null | grep -x '[0-9]* __clang__'))
# -ftest-coverage: beside the counts, which function each is of.
COUNTING := -fprofile-generate -fprofile-update=prefer-atomic -ftest-coverage
COUNTED  := $(if $(TRAINED),-fprofile-use -fprofile-correction -Wno-missing-profile -Wno-coverage-mismatch)
# The program is compiled as a whole, which takes ten seconds; tools and tests, of which there are many, are linked from the same objects.
WHOLE    := $(if $(TRAINED),-flto=auto -ffat-lto-objects)
# What a search runs lies side by side in it (tools/order.sh): where other programs fill the caches it takes a tenth
# less time.
ORDER_release := $(and $(TRAINED),$(shell $(CC) -Wl,--version 2>/dev/null | grep -o '^GNU ld'),-ffunction-sections -Wl$(comma)-T$(comma)build/train/order.ld)
# The compiler knows static functions by the name of their object without its ending, and looks for counts there. So
# the object of the release is told the name of the one that counted.
as_counted = $(if $(TRAINED),-dumpdir build/train/$(dir $(1)) -dumpbase $(notdir $(1)).c -dumpbase-ext .c)

CFLAGS  ?= -O3 -g
# A report needs lines and no more: -g1 compiles and links a third faster.
SAN_FLAGS := -O1 -g1 -fno-omit-frame-pointer
FLAGS_release := $(WARN) $(CFLAGS) $(HARDEN) $(WHOLE) $(COUNTED)
FLAGS_train   := $(WARN) $(CFLAGS) $(HARDEN) $(COUNTING)
FLAGS_dev     := $(WARN) -Werror -O2 -g $(HARDEN)
FLAGS_clang   := $(WARN) -Werror -O2 -g $(HARDEN)
FLAGS_asan    := $(WARN) -Werror $(SAN_FLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all
FLAGS_tsan    := $(WARN) -Werror $(SAN_FLAGS) -fsanitize=thread
FLAGS_fuzz    := $(WARN) $(SAN_FLAGS) -gdwarf-4 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LINK_release  := $(LINK_HARDEN) $(if $(WHOLLY),-static-pie $(NO_USER_LISTS) $(SHORT_RELOCATIONS)) $(if $(TRAINED),$(CFLAGS) $(HARDEN) -flto=auto)
LINK_train    := $(LINK_HARDEN) -fprofile-generate
LINK_dev      := $(LINK_HARDEN)
LINK_clang    := $(LINK_HARDEN)
LINK_asan     := -fsanitize=address,undefined
LINK_tsan     := -fsanitize=thread
LINK_fuzz     := -fsanitize=fuzzer,address,undefined

# ---- Sources ----------------------------------------------------------------

# Everything but src/face is the library, with src/api as what others see of it; src/face is the
# program around the same, and all of that but main.c works with any table of methods.
LIB_SRC  := $(filter-out src/face/%,$(sort $(wildcard src/*/*.c)))
FACE_SRC := $(sort $(wildcard src/face/*.c))
UNIT_SRC := $(sort $(wildcard test/unit/*.c))
HARNESS_SRC := test/harness/t.c
FUZZ_SRC := $(sort $(wildcard fuzz/*.c))
TOOL_SRC := $(sort $(wildcard test/cli/*.c test/crash/*.c bench/*.c))
SQL      := $(sort $(wildcard sql/*.sql))
TEMPLATES := $(sort $(wildcard templates/*.mustache))

UNITS := $(patsubst test/unit/%.c,%,$(UNIT_SRC))
FUZZERS := $(patsubst fuzz/%.c,%,$(FUZZ_SRC))
TOOLS := $(notdir $(TOOL_SRC:.c=))

.PHONY: all lib profile run test test-real test-long asan tsan lint fuzz torture bench dist man install deps clean distclean
.DELETE_ON_ERROR:
.SECONDARY:
all: build/release/arbor

# ---- Dependencies -----------------------------------------------------------

# tools/deps.sh says what it installs and does nothing when all is there. The
# stamps only save its start-up time.
DEPS := build/deps-build$(if $(filter 1,$(SYSTEM_SQLITE)),-system).stamp
DEPS_release := $(DEPS) $(if $(TRAINED),build/train/order.ld)
DEPS_train   := $(DEPS)
DEPS_dev     := $(DEPS)
DEPS_asan    := $(DEPS)
DEPS_tsan    := $(DEPS)
DEPS_clang   := build/deps-lint.stamp
DEPS_fuzz    := build/deps-lint.stamp
build/deps-%.stamp: tools/deps.sh package-lock.json
	$(Q)mkdir -p build && tools/deps.sh $(*:-system=) && touch $@
build/deps-bench.stamp: bench/package-lock.json
build/deps-test.stamp build/deps-real.stamp: test/real/package-lock.json
deps:
	$(Q)mkdir -p build && tools/deps.sh test
# What can be linked in statically was looked for above, when this file was read. Where something had to be
# installed first, make reads it once more: the stamp, which is empty, is a part of it.
ifneq ($(filter-out deps clean distclean,$(or $(MAKECMDGOALS),all)),)
-include $(DEPS)
endif

# SQLite: pinned by hash. It comes from vendor/ (in a dist archive), from npm, or
# with SYSTEM_SQLITE=1 from the system, which must then be new enough.
SQLITE_OPTIONS := -DSQLITE_THREADSAFE=2 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_STAT4 \
  -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_DQS=0 -DSQLITE_DEFAULT_FOREIGN_KEYS=1 \
  -DSQLITE_DEFAULT_WAL_SYNCHRONOUS=1 -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS \
  -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_LOAD_EXTENSION \
  -DSQLITE_OMIT_AUTOINIT -DSQLITE_USE_ALLOCA -DSQLITE_TRUSTED_SCHEMA=0 -DHAVE_FDATASYNC=1
SQLITE_CC := $(CC) -O3 -g1 $(HARDEN) -fPIC -fvisibility=hidden $(SQLITE_OPTIONS)
ifeq ($(SYSTEM_SQLITE),1)
SQLITE_CPP  :=
SQLITE_LIBS := -lsqlite3
SQLITE_H    := build/sqlite-system.stamp
SQLITE_OBJ  :=
else
SQLITE_DIR  := $(if $(wildcard vendor/sqlite3.c),vendor,build/npm/node_modules/better-sqlite3/deps/sqlite3)
SQLITE_CPP  := -isystem build/sqlite
SQLITE_LIBS :=
SQLITE_H    := build/sqlite/sqlite3.h
SQLITE_OBJ  := build/sqlite/sqlite3.o
endif
build/sqlite/sqlite3.h: tools/sqlite.sha256 | $(DEPS)
	$(Q)mkdir -p build/sqlite && cp $(SQLITE_DIR)/sqlite3.c $(SQLITE_DIR)/sqlite3.h build/sqlite/
	$(Q)cd build/sqlite && sha256sum --check --quiet ../../tools/sqlite.sha256 || { rm -f sqlite3.[ch]; exit 1; }
	$(Q)touch $@
build/sqlite/sqlite3.o: build/sqlite/sqlite3.h build/sqlite/flags
	@echo "CC  SQLite (once, half a minute)"
	$(Q)$(SQLITE_CC) -c build/sqlite/sqlite3.c -o $@
build/train/sqlite3.o: build/sqlite/sqlite3.h build/sqlite/flags
	@echo "CC  SQLite, counting"
	$(Q)mkdir -p $(@D) && $(SQLITE_CC) $(COUNTING) -c build/sqlite/sqlite3.c -o $@
build/release/sqlite3.o: build/sqlite/sqlite3.h build/sqlite/flags | build/train/order.ld
	@echo "CC  SQLite, counted"
	$(Q)mkdir -p $(@D) && $(SQLITE_CC) $(WHOLE) $(COUNTED) $(call as_counted,sqlite3) -c build/sqlite/sqlite3.c -o $@
release_SQLITE := $(and $(SQLITE_OBJ),$(TRAINED),build/release/sqlite3.o)
train_SQLITE   := $(and $(SQLITE_OBJ),build/train/sqlite3.o)

# The oldest SQLite that does not corrupt a store, see src/store/store.c.
SQLITE_LEAST := 3051003
build/sqlite-system.stamp: | $(DEPS)
	$(Q)printf '%s\n' '#include <sqlite3.h>' '#if SQLITE_VERSION_NUMBER < $(SQLITE_LEAST)' \
	  '#error "SYSTEM_SQLITE=1: the SQLite of this system is older than 3.51.3 and can corrupt a store. \
	Build without SYSTEM_SQLITE=1 to use the pinned one."' '#endif' | \
	  $(CC) $(CPPFLAGS) -fsyntax-only -x c - && mkdir -p build && touch $@

# A flags file holds the command that makes a folder's objects. It is remade when
# that changes, so that other flags never meet old objects.
define FLAGS_FILE
ifneq ($$(file <$(1)),$$($(2)))
.PHONY: $(1)
endif
$(1):
	@mkdir -p $$(@D) && printf '%s\n' '$$(subst ','\'',$$($(2)))' > $$@
endef
$(eval $(call FLAGS_FILE,build/sqlite/flags,SQLITE_CC))

build/gen/embed: tools/embed.c | $(DEPS)
	$(Q)mkdir -p build/gen && $(CC) -O1 -o $@ $<
build/gen/sql.c: build/gen/embed $(SQL)
	$(Q)build/gen/embed sql_files $(SQL) > $@.new && mv $@.new $@
build/gen/templates.c: build/gen/embed $(TEMPLATES)
	$(Q)build/gen/embed template_files $(TEMPLATES) > $@.new && mv $@.new $@

# ---- One mode ---------------------------------------------------------------

# What debuggers and profilers want to know lies beside the program, two thirds of its size. That also has it written
# in one piece: a linker writes here and there, and what the system then has in memory, page by page, starts slower. A
# search takes a tenth less.
SET_DEBUG_APART = $(Q)objcopy --only-keep-debug $@ $@.debug && objcopy --strip-all --add-gnu-debuglink=$@.debug $@ $@.whole && mv $@.whole $@

define MODE
$(1)_LIB  := build/$(1)/parts.a
$(1)_SQLITE := $$(or $$($(1)_SQLITE),$$(SQLITE_OBJ))
$(1)_OBJ  := $$(patsubst %.c,build/$(1)/%.o,$$(LIB_SRC)) build/$(1)/gen/sql.o build/$(1)/gen/templates.o
$(1)_ALL := $$(strip $$(CC_$(1)) $$(ARBOR_CPP) $$(FLAGS_$(1)) $$(LINK_$(1)) $$(ORDER_$(1)) $$(LDFLAGS) $$(LIBS))
$(call FLAGS_FILE,build/$(1)/flags,$(1)_ALL)
build/$(1)/%.o: %.c build/$(1)/flags $$(SQLITE_H) | $$(DEPS_$(1))
	@echo "CC  $(1)/$$*"
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(ARBOR_CPP) $$(FLAGS_$(1)) $(if $(filter release,$(1)),$$(call as_counted,$$*)) \
	  -Itest/harness -c $$< -MF $$(@:.o=.d) -o $$@
build/$(1)/gen/%.o: build/gen/%.c build/$(1)/flags | $$(DEPS_$(1))
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(ARBOR_CPP) $$(FLAGS_$(1)) -c $$< -o $$@
$$($(1)_LIB): $$($(1)_OBJ)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
# For others: one object in which only what arbor.h declares can be seen, whatever its user has
# that is called like something in it.
build/$(1)/libarbor.o: $$($(1)_OBJ) $$($(1)_SQLITE)
	$$(Q)$$(CC_$(1)) -r -nostdlib $$(if $$(findstring lto,$$(LINK_$(1))),$$(CFLAGS) $$(HARDEN) -flto=auto -flinker-output=nolto-rel) -o $$@.all $$^ $$(INSIDE_LIBS)
	$$(Q)objcopy --localize-hidden --wildcard --keep-global-symbol='arbor_*' $$@.all $$@ && rm $$@.all
build/$(1)/libarbor.a: build/$(1)/libarbor.o
	$$(Q)rm -f $$@ && ar rcs $$@ $$<
build/$(1)/libarbor.so: $$($(1)_OBJ) $$($(1)_SQLITE) src/api/arbor.map
	@echo "LD  $$@"
	$$(Q)$$(CC_$(1)) -shared $$(filter-out -pie -static-pie $$(NO_USER_LISTS) $$(SHORT_RELOCATIONS),$$(LINK_$(1))) $$(LDFLAGS) -Wl,-soname,libarbor.so.$$(SOVERSION) \
	  $$(if $$(findstring sanitize,$$(LINK_$(1))),,-Wl,-z,defs) -Wl,--version-script=src/api/arbor.map -o $$@ $$(filter %.o,$$^) $$(SHARED_LIBS)
build/$(1)/arbor.pc: Makefile VERSION build/$(1)/flags
	$$(Q)printf '%s\n' 'prefix=@PREFIX@' 'libdir=@LIBDIR@' 'includedir=$$$${prefix}/include' '' 'Name: arbor' \
	  'Description: Keeps and finds conversations with coding agents' 'Version: $$(VERSION)' \
	  'Cflags: -I$$$${includedir}' 'Libs: -L$$$${libdir} -larbor' 'Libs.private: $$(PRIVATE_LIBS)' > $$@
$(1)_PUBLIC := build/$(1)/libarbor.a build/$(1)/libarbor.so build/$(1)/arbor.pc
build/$(1)/arbor: $$(patsubst %.c,build/$(1)/%.o,$$(FACE_SRC)) $$($(1)_LIB) $$($(1)_SQLITE)
	@echo "LD  $$@"
	$$(Q)$$(CC_$(1)) $$(LINK_$(1)) $$(ORDER_$(1)) $$(LDFLAGS) -o $$@ $$^ $$(LIBS)
	$(if $(filter release,$(1)),$$(SET_DEBUG_APART))
build/$(1)/unit/%: build/$(1)/test/unit/%.o $$(patsubst %.c,build/$(1)/%.o,$$(HARNESS_SRC)) $$($(1)_LIB) $$($(1)_SQLITE)
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(LINK_$(1)) $$(if $$(findstring lto,$$(LINK_$(1))),-fno-lto) -o $$@ $$^ $$(LIBS)
build/$(1)/tool/fixture: build/$(1)/test/cli/fixture.o $$(patsubst %.c,build/$(1)/%.o,$$(filter-out %/main.c,$$(FACE_SRC))) \
  $$($(1)_LIB) $$($(1)_SQLITE)
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(LINK_$(1)) $$(if $$(findstring lto,$$(LINK_$(1))),-fno-lto) -o $$@ $$^ $$(LIBS)
build/$(1)/tool/%: build/$(1)/test/cli/%.o $$($(1)_LIB) $$($(1)_SQLITE)
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(LINK_$(1)) $$(if $$(findstring lto,$$(LINK_$(1))),-fno-lto) -o $$@ $$^ $$(LIBS)
build/$(1)/tool/%: build/$(1)/test/crash/%.o $$($(1)_LIB) $$($(1)_SQLITE)
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(LINK_$(1)) $$(if $$(findstring lto,$$(LINK_$(1))),-fno-lto) -o $$@ $$^ $$(LIBS)
build/$(1)/tool/%: build/$(1)/bench/%.o $$($(1)_LIB) $$($(1)_SQLITE)
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(LINK_$(1)) $$(if $$(findstring lto,$$(LINK_$(1))),-fno-lto) -o $$@ $$^ $$(LIBS)
build/$(1)/fuzz/%: build/$(1)/fuzz/%.o $$($(1)_LIB) $$($(1)_SQLITE) $$(if $$(filter fuzz,$(1)),,build/$(1)/test/harness/replay.o)
	$$(Q)mkdir -p $$(@D) && $$(CC_$(1)) $$(LINK_$(1)) $$(if $$(findstring lto,$$(LINK_$(1))),-fno-lto) -o $$@ $$^ $$(LIBS)
$(1)_TESTS := build/$(1)/arbor $$($(1)_PUBLIC) $$(UNITS:%=build/$(1)/unit/%) $$(TOOLS:%=build/$(1)/tool/%) $$(FUZZERS:%=build/$(1)/fuzz/%)
endef
$(foreach mode,$(MODES),$(eval $(call MODE,$(mode))))
# Stories start the program some ten thousand times: with the sanitizers inside it starts in three quarters of the time.
build/asan/arbor: private LINK_asan += -static-libasan -static-libubsan
# What starts it on a terminal has nothing in it to be looked for.
build/asan/test/cli/pty.o: private FLAGS_asan := $(WARN) -Werror -O1 -g1
build/asan/tool/pty: private LINK_asan :=
# Under TSan only what has threads runs.
tsan_TESTS := build/tsan/arbor $(patsubst %,build/tsan/%,$(filter unit/%,$(file <test/threads.list)) tool/mktree tool/schedule)
-include $(foreach mode,$(MODES),$(wildcard build/$(mode)/*/*.d build/$(mode)/*/*/*.d))

# ---- What people type -------------------------------------------------------

lib: $(release_PUBLIC)

# What both need is made here: two makes that write one file would meet.
build/train/order.ld: | $(DEPS) build/gen/sql.c build/gen/templates.c $(SQLITE_H) $(if $(SQLITE_OBJ),build/sqlite/flags)
	+$(Q)$(MAKE) --no-print-directory build/train/arbor build/train/tool/replicate build/train/tool/mktree
	$(Q)tools/train.sh build/train $@.new && mv $@.new $@
profile:
	rm -rf build/train build/release
	+$(Q)$(MAKE) --no-print-directory build/train/order.ld

run: build/release/arbor
	$(Q)tools/run.sh build/release/arbor

test: build/deps-test.stamp $(dev_TESTS) $(asan_TESTS) $(tsan_TESTS)
	$(Q)test/run dev asan tsan
test-real: build/deps-real.stamp build/dev/arbor
	$(Q)REAL=1 ONLY=real/ test/run dev
asan: build/deps-test.stamp $(asan_TESTS)
	$(Q)test/run asan
tsan: build/deps-test.stamp $(tsan_TESTS)
	$(Q)test/run tsan

lint: build/deps-lint.stamp $(dev_TESTS) $(clang_TESTS)
	$(Q)ARBOR_CFLAGS="$(filter-out -M% -DARBOR_VERSION=%,$(ARBOR_CPP)) $(WARN)" tools/lint.sh
fuzz: build/deps-lint.stamp $(FUZZERS:%=build/fuzz/fuzz/%)
	$(Q)tools/fuzz.sh $(FUZZ_SECONDS) $(FUZZERS)
test-long: build/deps-test.stamp build/deps-real.stamp $(dev_TESTS) $(asan_TESTS) $(tsan_TESTS) build/release/arbor \
  $(addprefix build/release/tool/,lineage lives grove handles purges)
	$(Q)SCALE=full test/run dev asan tsan
	$(Q)ONLY=lineage test/torture.sh build/release
	$(Q)ONLY=lives test/torture.sh build/release
	$(Q)ONLY=purges test/torture.sh build/release
	$(Q)ONLY=killed test/torture.sh build/release
	$(Q)test/oracle/recall-corpus.sh build/release
	$(Q)test/oracle/handles-corpus.sh build/release
torture: build/deps-test.stamp $(release_TESTS)
	$(Q)test/torture.sh build/release
bench: build/deps-bench.stamp build/release/arbor $(TOOLS:%=build/release/tool/%)
	$(Q)bench/run.sh build/release

dist: build/sqlite/sqlite3.h
	$(Q)tools/dist.sh $(VERSION) build/sqlite

# The program prints its own manual pages and completions.
man: build/man/arbor.1
build/man/arbor.1: build/release/arbor tools/pages.sh
	$(Q)tools/pages.sh build/release/arbor build/man

SHARE = $(DESTDIR)$(PREFIX)/share
install: build/release/arbor build/man/arbor.1 lib
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 $(SHARE)/bash-completion/completions \
	  $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 755 build/release/arbor $(DESTDIR)$(PREFIX)/bin/arbor
	install -m 644 build/man/*.1 $(SHARE)/man/man1/
	install -m 644 build/man/arbor.bash $(SHARE)/bash-completion/completions/arbor
	install -m 644 build/man/arbor.zsh $(SHARE)/zsh/site-functions/_arbor
	install -m 644 build/man/arbor.fish $(SHARE)/fish/vendor_completions.d/arbor.fish
	PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' tools/install-lib.sh build/release

clean:
	rm -rf $(MODES:%=build/%) build/gen build/man build/test build/dist build/lint build/bench build/fuzz-corpus
distclean:
	rm -rf build
