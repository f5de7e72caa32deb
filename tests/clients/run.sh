#!/bin/sh
# Run the tests with real clients, which the main test command leaves out:
#
#   sh tests/clients/run.sh [PYTEST ARGUMENTS]        for example -k pegasus
#
# The first run makes a Python environment for each file in `environments`, in var/clients (about
# 1 GB, two minutes).  $CLIENTS_PYTHON names the Python to make them from, 3.11 or newer; else that
# of .venv.  Nothing is left out: what can't be installed is an error.
set -eu
cd "$(dirname "$0")/../.."
root=$(pwd)
sh tools/environment.sh test
python=${CLIENTS_PYTHON:-$root/.venv/bin/python}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "tests/clients/run.sh: $python is older than Python 3.11, which lsst-ctrl-bps needs.
Name a newer one: CLIENTS_PYTHON=/path/to/python3 sh tests/clients/run.sh" >&2
    exit 1
}
for list in tests/clients/environments/*.txt; do
    venv=$root/var/clients/$(basename "$list" .txt)
    key="$("$python" -V) $(cksum <"$list")"
    [ "$(cat "$venv/made-for" 2>/dev/null)" != "$key" ] || continue
    echo "making the Python environment $venv"
    rm -rf "$venv"
    mkdir -p "$root/var/clients"
    "$python" -m venv --without-pip "$venv"
    .venv/bin/python -m pip --disable-pip-version-check -q --python "$venv/bin/python" \
        install -r "$list" >"$venv/log" 2>&1 || {
        tail -n 12 "$venv/log" >&2
        exit 1
    }
    echo "$key" >"$venv/made-for"
done
exec .venv/bin/python -m pytest tests/clients "$@"
