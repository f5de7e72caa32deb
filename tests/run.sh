#!/bin/sh
# Run the tests: sh tests/run.sh [--all] [PYTEST ARGUMENTS]
# Without arguments this is the gate, some minutes; --all is the long run, with every test there is.
# The first run makes a private Python environment (.venv); the tests that need an HTCondor start
# one of their own.  Several processes share the tests; -n 0 has one process run them.
#   sh tests/run.sh --mutants [--help]   mutation testing instead (tests/mutants/run.py)
set -eu
cd "$(dirname "$0")/.."
umask 022 # the pool's user reads what the tests write
if [ "${1:-}" = --mutants ]; then
    shift
    sh tools/environment.sh test,mutants
    exec .venv/bin/python -m tests.mutants.run "$@"
fi
sh tools/environment.sh test
case " $* " in *" --all "*) sh tests/clients/environments.sh ;; esac
# The pools' user may not be able to write here: else each DAGMan would compile the package again.
.venv/bin/python -m compileall -q condor_pydagman
# pytest's processes load what one of them has compiled, instead of compiling all tests each.
unset PYTHONDONTWRITEBYTECODE
test -d tests/__pycache__ || .venv/bin/python -m pytest -n 0 --collect-only -qq >/dev/null || true
# Where a process has died the run ends with that: pytest-xdist waits for ever for a new one.
exec .venv/bin/python -m pytest -n auto --max-worker-restart=0 "$@"
