#!/bin/sh
# Run a DAG of four jobs on a personal HTCondor: sh examples/run_diamond.sh
#
# It makes a private Python environment (.venv), starts a personal HTCondor of its own (fetching one
# if this machine has none), submits examples/diamond/diamond.dag, shows its progress, and says what
# to look at next.  In a terminal the HTCondor goes on for that; else it is stopped.
# It needs no root access and changes nothing outside the checkout and ~/.cache.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
limit=300 # seconds that the DAG gets

sh "$root/tools/environment.sh"
export PATH="$root/.venv/bin:$PATH"

mkdir -p "$root/var"
place=$root/var
# DAGMan refuses a nodes log below /tmp, where it might be deleted automatically.
case $place in /tmp/*) place=/var/tmp ;; esac
pool=$(mktemp -d "$place/diamond.XXXXXX")
export PYDAGMAN_POOL="$pool"
work=$pool/work

stop() {
    trap - EXIT
    [ -n "$goes_on" ] || condor_pydagman pool stop
    exit "$1"
}
goes_on=
trap 'stop $?' EXIT
trap 'echo "interrupted"; exit 130' INT
trap 'exit 143' TERM HUP

in_pool() {
    condor_pydagman pool run sh -c "$@"
}

condor_pydagman pool start
# The pool's user copies, so that the files are that user's.
in_pool 'cp -R "$1" "$2"' copy "$root/examples/diamond" "$work"

echo "submitting $work/diamond.dag"
in_pool 'cd "$1" && condor_submit_dag diamond.dag' submit "$work"

# Show the lines of DAGMan's log that are about nodes.
events='Submitting HTCondor Node|(PRE|POST) [Ss]cript of [Nn]ode|Node [A-D] job proc'
shown=0
waited=0
show_progress() {
    [ -f "$work/diamond.dag.dagman.out" ] || return 0
    lines=$(wc -l <"$work/diamond.dag.dagman.out")
    tail -n "+$((shown + 1))" "$work/diamond.dag.dagman.out" | head -n "$((lines - shown))" |
        grep -E "$events" || true
    shown=$lines
}
# The log of the DAGMan job shows when it leaves the queue: 005 it ended, 009 it was removed.
left_queue() {
    grep -Eq '^00[59] ' "$work/diamond.dag.dagman.log" 2>/dev/null
}
show_errors() {
    for file in "$work/diamond.dag.dagman.out" "$work/diamond.dag.lib.err"; do
        if [ -s "$file" ]; then
            echo "the end of $file:"
            tail -n 20 "$file"
        fi
    done >&2
}
until left_queue; do
    show_progress
    if [ "$waited" -ge "$limit" ]; then
        echo "the DAG did not end within $limit seconds" >&2
        show_errors
        exit 1
    fi
    sleep 1
    waited=$((waited + 1))
done
show_progress

log=$work/diamond.dag.dagman.log
status=$(sed -n 's/.*Normal termination (return value \([0-9]*\)).*/\1/p' "$log" | tail -n 1)
status=${status:-1} # a signal ended it, or it was removed
echo
if [ "$status" -eq 0 ]; then
    echo "the DAG succeeded; node D collected this in $work/D.txt:"
    cat "$work/D.txt"
else
    echo "the DAG failed" >&2
    show_errors
fi
echo "exit code of DAGMan: $status"

start=
if [ -t 1 ]; then goes_on=yes; else start="
    condor_pydagman pool start"; fi
cat <<END

What to look at next.  Tell this shell where things are:

    export PATH="$root/.venv/bin:\$PATH" PYDAGMAN_POOL="$pool"; cd "$work"$start

Then:

    condor_pydagman report diamond.dag      what took how long, as a page
    condor_pydagman draw diamond.dag        a picture (needs Graphviz)
    condor_pydagman pool run condor_pydagman explain diamond.dag
                                            what there is to say of it
    condor_pydagman pool run condor_pydagman run -f diamond.dag
                                            run it again
    condor_pydagman pool stop               stop this HTCondor

Commands that ask HTCondor need "pool run"; the others read files.  When the
HTCondor is stopped you may remove
$pool
The tutorial goes on from here (skip its first section): docs/tutorial.md
END
exit "$status"
