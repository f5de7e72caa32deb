#!/bin/sh
# Make the private Python environment .venv of this checkout, or bring it up to date.
#
#   sh tools/environment.sh         the package itself (editable) and what it needs
#   sh tools/environment.sh test    what the tests need as well
#
# $PYTHON names the Python to make it from; else the first python3 on PATH that is new enough.
# It needs no root.  Where Debian's pip or venv is not installed, pip is fetched with apt-get and
# used from a directory of ours.  A second run with nothing to do takes no time.
set -eu

extras=${1:-}
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.venv

say() { printf '%s\n' "$*"; }
fail() {
    printf 'tools/environment.sh: %s\n' "$*" >&2
    exit 1
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null
}

choose_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || fail "\$PYTHON is $PYTHON, which is no Python 3.9 or newer"
        printf '%s\n' "$PYTHON"
        return
    fi
    for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9; do
        if command -v "$name" >/dev/null && new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    fail "Python 3.9 or newer is needed, and there is none on PATH.
Install one (Debian: apt-get install python3; Enterprise Linux 8: dnf install python39),
or name it: PYTHON=/path/to/python3 sh ..."
}

# What the environment depends on; another key means to install again.
key() {
    printf '%s %s\n' "$("$venv/bin/python" -V 2>&1)" "$root"
    cat "$root/setup.cfg" "$root/setup.py" "$root"/scripts/condor_* "$root/tools/environment.sh" | cksum
}

# False if $PYTHON asks for another Python than the environment was made from.
made_from_wanted() {
    [ -z "${PYTHON:-}" ] || grep -qxF "from: $PYTHON" "$venv/made-from" 2>/dev/null
}

up_to_date() {
    [ -x "$venv/bin/python" ] && [ -f "$venv/made-for" ] && made_from_wanted || return 1
    key >"$venv/key.$$" 2>/dev/null || return 1
    made=no
    if [ "$(head -n 2 "$venv/made-for")" = "$(cat "$venv/key.$$")" ]; then
        grep -qx "extras: $extras" "$venv/made-for" || [ -z "$extras" ] && made=yes
    fi
    rm -f "$venv/key.$$"
    [ $made = yes ]
}

# Runs pip from the wheels that Debian keeps for its own venv; for systems without any pip.
fetch_pip() {
    for program in apt-get apt-cache dpkg; do
        command -v $program >/dev/null ||
            fail "$python has neither pip nor ensurepip; install pip (for example: dnf install python3-pip)"
    done
    apt=$venv/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
    set -- -q "-oDir::State::Lists=$apt/lists" "-oDir::Cache=$apt/cache" \
        -oAPT::Sandbox::User=root -oAcquire::Languages=none -oDebug::NoLocking=true
    say "fetching pip from this machine's Debian archive"
    # A source that fails is no harm as long as the one with pip answers.
    apt-get "$@" update >"$apt/log" 2>&1 || true
    (cd "$apt/debs" && apt-get "$@" download python3-pip-whl python3-setuptools-whl) \
        >>"$apt/log" 2>&1 || {
        tail -n 4 "$apt/log" >&2
        fail "pip is not installed, and fetching it with apt-get failed: is there a network?
Else install it as root: apt-get install python3-venv"
    }
    for deb in "$apt"/debs/*.deb; do
        dpkg -x "$deb" "$apt/root"
    done
    for wheel in "$apt"/root/usr/share/python-wheels/pip-*.whl; do
        "$venv/bin/python" "$wheel/pip" install pip setuptools >"$apt/log" 2>&1 ||
            no_network "$apt/log"
    done
    rm -rf "$apt"
}

no_network() {
    tail -n 12 "$1" >&2
    fail "installing Python packages failed (see above).  They come from pip's usual index: is there
a network?  A proxy or another index can be set in pip's own configuration (pip config)."
}

make_venv() {
    say "making the Python environment $venv with $python"
    rm -rf "$venv"
    # Not every Python that has ensurepip can run it (Debian splits it off), so try.
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
        rm -rf "$venv"
        "$python" -m venv --without-pip "$venv" ||
            fail "$python can't make a virtual environment (see above)"
    fi
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || fetch_pip
    say "from: $python" >"$venv/made-from"
}

install() {
    say "installing the package${extras:+ with what its ${extras}s need} into $venv"
    set -- "$venv/bin/python" -m pip --disable-pip-version-check install
    # Older ones can't install an editable package the way newer ones do, and have known holes.
    "$@" --upgrade 'pip>=23.1' >"$venv/log" 2>&1 || no_network "$venv/log"
    # The old way would put a slower condor_dagman there, and so would an import hook, which is
    # the usual way: it takes every Python of this environment 15 ms to set up.
    set -- "$@" --use-pep517 --config-settings editable_mode=compat
    "$@" -e "$root${extras:+[$extras]}" >"$venv/log" 2>&1 || no_network "$venv/log"
    { key && say "extras: $extras"; } >"$venv/made-for.new"
    mv "$venv/made-for.new" "$venv/made-for"
}

if [ "${ENVIRONMENT_LOCKED:-}" != yes ] && command -v flock >/dev/null; then
    if up_to_date; then exit 0; fi
    # One at a time: both of the README's commands may run at once.
    ENVIRONMENT_LOCKED=yes exec flock "$root/setup.cfg" sh "$0" "$@"
fi
if up_to_date; then exit 0; fi
python=$(choose_python)
if ! made_from_wanted || ! new_enough "$venv/bin/python" ||
    ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    make_venv
fi
install
