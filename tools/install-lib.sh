#!/bin/sh
# tools/install-lib.sh BUILD: installs the library that was built in BUILD: header, both
# libraries, what pkg-config asks, and the manual page. Where to say PREFIX, LIBDIR and
# DESTDIR, as `make install` does, and the tests with folders of their own.
set -eu
build=${1:?usage: tools/install-lib.sh BUILD}
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
to=${DESTDIR:-}
version=$(cat VERSION)
soname=$(objdump -p "$build/libarbor.so" | awk '$1 == "SONAME" { print $2 }')

install -d "$to$prefix/include" "$to$libdir/pkgconfig" "$to$prefix/share/man/man3"
install -m 644 include/arbor.h "$to$prefix/include/arbor.h"
install -m 644 "$build/libarbor.a" "$to$libdir/libarbor.a"
install -m 755 "$build/libarbor.so" "$to$libdir/libarbor.so.$version"
ln -sf "libarbor.so.$version" "$to$libdir/$soname"
ln -sf "$soname" "$to$libdir/libarbor.so"
sed "s|@PREFIX@|$prefix|; s|@LIBDIR@|$libdir|" "$build/arbor.pc" >"$to$libdir/pkgconfig/arbor.pc"
chmod 644 "$to$libdir/pkgconfig/arbor.pc"
tools/man3.sh include/arbor.h >"$to$prefix/share/man/man3/arbor.3"
chmod 644 "$to$prefix/share/man/man3/arbor.3"
