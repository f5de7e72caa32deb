#!/bin/sh
# Make the Python environments of the real clients: one for each file in `environments`, in
# var/clients (about 1 GB, two minutes).  A second run with nothing to do takes no time.
#
# $CLIENTS_PYTHON names the Python to make them from, 3.11 or newer; else that of .venv.
set -eu
cd "$(dirname "$0")/../.."
root=$(pwd)
python=${CLIENTS_PYTHON:-$root/.venv/bin/python}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "tests/clients: $python is older than Python 3.11, which lsst-ctrl-bps needs.
Name a newer one: CLIENTS_PYTHON=/path/to/python3 sh tests/run.sh --all" >&2
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
