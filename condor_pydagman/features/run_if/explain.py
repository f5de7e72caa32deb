"""Nodes that failed since their RUN_IF can't be evaluated."""

from __future__ import annotations

ADVICE = {
    "RUN_IF ": "condor_dag_checker -lint reports names that no parent publishes. An expression can"
    " handle undefined values with isUndefined(...), =?= and ifThenElse(...)."
}
