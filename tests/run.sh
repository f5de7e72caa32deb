#!/bin/sh
# Run all tests: sh tests/run.sh [PYTEST ARGUMENTS]
# The first run makes a private Python environment (.venv); the tests that need an HTCondor start
# one of their own.
set -eu
cd "$(dirname "$0")/.."
sh tools/environment.sh test
exec .venv/bin/python -m pytest "$@"
