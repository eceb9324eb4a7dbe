#!/bin/sh
# Installs Backhaul from its tarball, or removes it.
set -eu
usage() {
    cat <<'END'
Usage: ./install.sh [--prefix FOLDER]
       ./install.sh --uninstall [--prefix FOLDER]

Installs Backhaul below FOLDER, an absolute path (default: $PREFIX, or /usr/local). --uninstall removes what an
installation has put there, and nothing else. An installation replaces an older version.
END
}
fail() { printf 'install.sh: %s\n' "$1" >&2 && exit "${2-1}"; }

action=install prefix=${PREFIX-/usr/local}
while [ $# -gt 0 ]; do
    case "$1" in
        --uninstall) action=uninstall ;;
        --prefix) [ $# -gt 1 ] || fail '--prefix needs a folder; try --help' 2
            shift && prefix=$1 ;;
        --prefix=*) prefix=${1#*=} ;;
        --help | -h) usage && exit ;;
        *) fail "unknown argument '$1'; try --help" 2 ;;
    esac
    shift
done
case "$prefix" in
    /*) ;;
    *) fail "the prefix '$prefix' is a relative path; give an absolute path" 2 ;;
esac
[ "$prefix" = / ] || prefix=${prefix%/}
cd "$(dirname "$0")"

# Prints why the programs cannot run here. ld.so itself names what it does not find.
problem() {
    machine=$(sed -n 's/.*-linux-//p' packaging/name)
    [ "$(uname -m)" = "$machine" ] ||
        { echo "this tarball is for $machine, and the machine is $(uname -m)"; return; }
    bin/backhaul --version 2>&1 >/dev/null | sed -n '
        s/.*version `\(GLIBC[A-Z]*_[0-9.]*\)'\'' not found.*/the C or C++ library is too old, it has no \1/p
        s/.*: \([^ ]*\.so[^ ]*\): cannot open shared object.*/the library \1 is missing; install it/p' | sort -u | head -n 1
}

if [ "$action" = install ]; then
    problem=$(problem)
    [ -z "$problem" ] || fail "$problem"
    bin/backhaul --version >/dev/null || fail 'bin/backhaul does not run here'
fi
[ "$action" = install ] || [ -f "$prefix/share/backhaul/installed" ] ||
    fail "there is no installation below $prefix; name its folder with --prefix"
existing=$prefix
while [ ! -e "$existing" ]; do existing=$(dirname "$existing"); done
[ -w "$existing" ] || fail "$existing is not writable for $(id -un); run this as root, or choose another --prefix"
packaging/place "$action" "$prefix" "$prefix/lib" "$(cat packaging/version)" <packaging/table
packaging/reload-ld "$action" "$prefix/lib"
[ "$action" = uninstall ] ||
    printf '%s\n' "Installed. Try: $(packaging/quote "$prefix/bin/backhaul") --help" \
        'Keep this folder. This command removes the files:' \
        "    $(packaging/quote "$PWD/install.sh") --uninstall --prefix $(packaging/quote "$prefix")"
