#!/bin/sh
# Make the private Python environment .venv of this checkout, or bring it up to date.
#
#   sh tools/environment.sh         the package itself (editable) and what it needs
#   sh tools/environment.sh transfer   what data placement needs as well
#   sh tools/environment.sh test    what the tests need as well; test,mutants: mutation testing, too
#   sh tools/environment.sh test --python 3.13 --htcondor 25.0
#                                   with this Python and these bindings, beside .venv, here in
#                                   .venv-3.13-25.0; the last line says which interpreter it has
#
# $PYTHON names the Python to make it from; else the first python3 on PATH that is new enough.
# With --python it is looked for on PATH and among pyenv's; one that is not there is fetched from
# Debian into the user's cache directory.  --htcondor takes the newest wheel of this version.
# It needs no root.  Where Debian's pip or venv is not installed, pip is fetched with apt-get and
# used from a directory of ours.  A second run with nothing to do takes no time.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)

say() { printf '%s\n' "$*"; }
fail() {
    printf 'tools/environment.sh: %s\n' "$*" >&2
    exit 1
}

version() { # OPTION VALUE
    expr "$2" : '[0-9][0-9]*\.[0-9][0-9.]*$' >/dev/null ||
        fail "$1 needs a version, such as $1 $([ "$1" = --python ] && echo 3.13 || echo 25.0)"
    printf '%s\n' "$2"
}

extras='' wanted_python='' htcondor='' option=''
for word in "$@"; do
    case "$option $word" in
    ' --python' | ' --htcondor') option=$word && continue ;;
    '--python '*) wanted_python=$(version "$option" "$word") ;;
    '--htcondor '*) htcondor=$(version "$option" "$word") ;;
    ' -'*) fail "there is no option $word; there are --python and --htcondor" ;;
    *) extras=$word ;;
    esac
    option=''
done
[ -z "$option" ] || version "$option" ''

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null
}

# Whether Python $1 is of the version that --python asks for; 3.13 and 3.13.0 are such.
is_wanted() {
    "$1" -c 'import platform, sys
sys.exit(not f"{platform.python_version()}.".startswith(f"{sys.argv[1]}."))' \
        "$wanted_python" 2>/dev/null
}

[ -n "${HOME:-}" ] || HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
fetched=${XDG_CACHE_HOME:-$HOME/.cache}/condor_pydagman/python-$wanted_python
find_wanted() {
    for name in "python$wanted_python" "$fetched/usr/bin/python$wanted_python" \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/$wanted_python"/bin/python \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/$wanted_python".*/bin/python; do
        # Not every python3.13 of pyenv on PATH can be run.
        if command -v "$name" >/dev/null && is_wanted "$name"; then
            command -v "$name"
            return
        fi
    done
    return 1
}

fetch_python() {
    say "fetching Python $wanted_python into $fetched (once)" >&2
    any=$(wanted_python='' && choose_python)
    why=$(cd "$root" && "$any" -m tools.fetch_python "$wanted_python" "$fetched" 2>&1) ||
        fail "there is no Python $wanted_python on PATH or among pyenv's versions" \
            "($(there_are)), and it can't be fetched: $why"
    printf '%s\n' "$why" | tail -n 1
}

# The versions of Python that --python finds without fetching.
there_are() {
    for minor in 9 10 11 12 13 14 15 16; do
        if (wanted_python=3.$minor && find_wanted >/dev/null); then printf '3.%s ' $minor; fi
    done | sed 's/ $//'
}

choose_python() {
    if [ -n "$wanted_python" ] && [ -z "${PYTHON:-}" ]; then
        find_wanted || fetch_python
        return
    fi
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

check_wanted() {
    case $wanted_python in
    '' | 3.9 | 3.9.* | 3.[1-9][0-9]*) ;;
    *) fail "Python $wanted_python won't do: the package needs 3.9 or newer ($(there_are))" ;;
    esac
    if [ -n "$wanted_python" ] && [ -n "${PYTHON:-}" ] && ! is_wanted "$PYTHON"; then
        fail "\$PYTHON is $PYTHON, which is no Python $wanted_python"
    fi
}

# .venv, or with options a directory named after the versions.
choose_venv() {
    venv=$root/.venv
    if [ -n "$wanted_python" ]; then
        venv=$venv-$wanted_python${htcondor:+-$htcondor}
    elif [ -n "$htcondor" ]; then
        python=$(choose_python)
        venv=$venv-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$htcondor
    fi
}

# What the environment depends on; another key means to install again.
key() {
    printf '%s %s\n' "$("$venv/bin/python" -V 2>&1)" "$root"
    cat "$root/setup.cfg" "$root/setup.py" "$root/pyproject.toml" "$root"/scripts/condor_* \
        "$root/condor_pydagman/libexec/condor_dagman.c" "$root/tools/environment.sh" | cksum
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
        grep -qE "^extras: $extras(,|\$)" "$venv/made-for" || [ -z "$extras" ] && made=yes
    fi
    rm -f "$venv/key.$$"
    [ $made = yes ]
}

# Runs pip from the wheels that Debian keeps for its own venv; for systems without any pip.
fetch_pip() {
    if [ -d "$fetched/usr/share/python-wheels" ]; then
        run_wheels "$fetched" "$venv/log"
        return
    fi
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
    run_wheels "$apt/root" "$apt/log"
    rm -rf "$apt"
}

run_wheels() {
    for wheel in "$1"/usr/share/python-wheels/pip-*.whl; do
        "$venv/bin/python" "$wheel/pip" install pip setuptools >"$2" 2>&1 || no_network "$2"
    done
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

# pip writes the interpreter's path into the first line of the commands, where not every path can be.
check_path() {
    probe=$venv/bin/probe
    printf '#!%s/bin/python\nimport sys\n' "$venv" >"$probe"
    chmod +x "$probe"
    "$probe" >/dev/null 2>&1 || {
        rm -f "$probe"
        fail "no command can run in $venv/bin: there is a blank in this path, or it is too
long, or nothing may run on this file system; put the checkout elsewhere"
    }
    rm -f "$probe"
}

# Fails unless --htcondor names a version that pip finds and setup.cfg allows.
check_bindings() {
    "$venv/bin/python" -m pip index versions htcondor >"$venv/log" 2>&1 || no_network "$venv/log"
    "$venv/bin/python" - "$htcondor" "$root/setup.cfg" "$venv/log" <<'END' || exit 1
import re, sys
from pip._vendor.packaging.specifiers import SpecifierSet

wanted, configuration, log = sys.argv[1:]
allowed = SpecifierSet(re.search(r"htcondor (\S.*)", open(configuration).read())[1])
there = re.search(r"Available versions: (.*)", open(log).read())[1].split(", ")
good = [version for version in reversed(there) if version in allowed]
if not any(f"{version}.".startswith(f"{wanted}.") for version in good):
    names = ", ".join(dict.fromkeys(version.rpartition(".")[0] for version in good))
    sys.exit(f"tools/environment.sh: there are no bindings {wanted} to install; there are {names}")
END
}

install() {
    say "installing the package${extras:+ and its extras $extras} into $venv"
    set -- "$venv/bin/python" -m pip --disable-pip-version-check install
    # Older ones can't install an editable package the way newer ones do, and have known holes.
    "$@" --upgrade 'pip>=23.1' >"$venv/log" 2>&1 || no_network "$venv/log"
    # The old way would put a slower condor_dagman there, and so would an import hook, which is
    # the usual way: it takes every Python of this environment 15 ms to set up.
    set -- "$@" --use-pep517 --config-settings editable_mode=compat
    [ -z "$htcondor" ] || check_bindings
    case $htcondor in
    '') ;;
    *.*.*) set -- "$@" "htcondor==$htcondor" ;;
    *) set -- "$@" --upgrade "htcondor==$htcondor.*" ;;
    esac
    "$@" -e "$root${extras:+[$extras]}" >"$venv/log" 2>&1 || no_network "$venv/log"
    { key && say "extras: $extras"; } >"$venv/made-for.new"
    mv "$venv/made-for.new" "$venv/made-for"
}

say_where() {
    if [ "$venv" != "$root/.venv" ]; then say "$venv/bin/python"; fi
}

check_wanted
python=''
choose_venv
if up_to_date; then
    say_where
    exit 0
fi
if [ "${ENVIRONMENT_LOCKED:-}" != yes ] && command -v flock >/dev/null; then
    # One at a time: both of the README's commands may run at once.
    ENVIRONMENT_LOCKED=yes exec flock "$root/setup.cfg" sh "$0" "$@"
fi
[ -n "$python" ] || python=$(choose_python)
if ! made_from_wanted || ! new_enough "$venv/bin/python" ||
    ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    make_venv
fi
check_path
install
say_where
