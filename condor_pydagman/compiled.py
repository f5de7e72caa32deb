"""What of an installation may be machine code, and whether it is.

`setup.py` compiles these modules of the engine with mypyc when CONDOR_PYDAGMAN_COMPILE=1 is set.
The compiled ones are beside their sources, and Python prefers them.  It builds the waiter, without
which no DAGMan sleeps, where there is a C compiler.
"""

from __future__ import annotations

import os
from importlib.machinery import EXTENSION_SUFFIXES

# Modules of `engine/`.  Left out are those that are not worth it, or that mypyc can't compile,
# `engine` itself, which the simulator inherits from, and `queues`, `feature` and `hooks`, which
# features inherit from or build on: those stay Python.
MODULES = (
    *("dag_states", "node_states", "inputs", "actions", "throttles", "report", "jobs"),
    *("rules", "script_words", "run_records", "state", "lifecycle", "run_end", "provisioner"),
    *("scripts", "gated_nodes", "submission", "operator", "job_events", "journal_events"),
    *("event_matching", "reconcile", "dispatch"),
)

_HERE = os.path.dirname(__file__)
# The program that a DAGMan becomes while it sleeps (`daemon/sleep.py`).
WAITER = os.path.join(_HERE, "libexec", "condor_dagman")

PURE = "pure Python"
COMPILED = "compiled"


def form(engine: str) -> str:
    """COMPILED or PURE: what is loaded from the directory `engine`."""
    compiled = os.path.join(engine, MODULES[0] + EXTENSION_SUFFIXES[0])
    return COMPILED if os.path.exists(compiled) else PURE


def sleep() -> str:
    """Whether a DAGMan of this installation can sleep, in words."""
    if form(os.path.join(_HERE, "engine")) != PURE:
        return "not possible: the engine is compiled"
    if not os.access(WAITER, os.X_OK):
        return f"not possible: {WAITER} is missing; to build it needs a C compiler"
    return "possible"
