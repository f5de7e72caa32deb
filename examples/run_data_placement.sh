#!/bin/sh
# Run a DAG that moves data, on a personal HTCondor: sh examples/run_data_placement.sh
#
# It makes a private Python environment (.venv), starts a personal HTCondor and a web server on this
# machine, runs examples/data_placement/placement.dag, shows what was moved, and stops both again.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
sh "$root/tools/environment.sh" transfer
export PATH="$root/.venv/bin:$PATH"

mkdir -p "$root/var"
place=$root/var
# DAGMan refuses a nodes log below /tmp, where it might be deleted automatically.
case $place in /tmp/*) place=/var/tmp ;; esac
pool=$(mktemp -d "$place/placement.XXXXXX")
export PYDAGMAN_POOL="$pool"
work=$pool/work server=

stop() {
    trap - EXIT
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    condor_pydagman pool stop
    exit "$1"
}
trap 'stop $?' EXIT
trap 'echo "interrupted"; exit 130' INT
trap 'exit 143' TERM HUP

mkdir -p "$pool/config.d" "$pool/served/texts"
cat >"$pool/config.d/placement" <<EOF
# Of this "destination" the DAG allocates 20 MB.
PYDAGMAN_PLACEMENT_CAPACITY = scratch=50 MB
PYDAGMAN_PLACEMENT_DIR = $pool/shared
EOF
mkdir -m 1777 "$pool/shared"

# What the web server has: some texts, and one file whose checksum the DAG knows.
echo hello >"$pool/served/words of the day.txt"
for number in 1 2 3 4 5; do
    seq "$number"000 >"$pool/served/texts/text $number.txt"
done
python -m http.server --bind 127.0.0.1 --directory "$pool/served" 8764 >"$pool/server.log" 2>&1 &
server=$!

condor_pydagman pool start
# The pool's user copies, so that the files are that user's.
condor_pydagman pool run sh -c 'cp -R "$1" "$2" && mkdir "$2/scratch" "$2/results"' \
    copy "$root/examples/data_placement" "$work"
cd "$work"
code=0
condor_pydagman pool run condor_pydagman run placement.dag || code=$?
cat placement.dag.placements/*.out
echo "staged out:"
cat results/* || true
echo "exit code of the DAG: $code"
exit "$code"
