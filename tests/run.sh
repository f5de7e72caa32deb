#!/bin/sh
# Run all tests: sh tests/run.sh [PYTEST ARGUMENTS]
# The first run makes a private Python environment (.venv); the tests that need an HTCondor start
# one of their own.  Several processes share the tests; -n 0 has one process run them.
set -eu
cd "$(dirname "$0")/.."
sh tools/environment.sh test
# The pools' user may not be able to write here: else each DAGMan would compile the package again.
.venv/bin/python -m compileall -q condor_pydagman
exec .venv/bin/python -m pytest -n auto "$@"
