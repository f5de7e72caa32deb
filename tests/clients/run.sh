#!/bin/sh
# Run the tests with real clients alone: sh tests/clients/run.sh [PYTEST ARGUMENTS], say -k pegasus
set -eu
cd "$(dirname "$0")/../.."
sh tools/environment.sh test
sh tests/clients/environments.sh
exec .venv/bin/python -m pytest -n 0 tests/clients "$@"
