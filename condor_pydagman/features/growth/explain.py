"""Nodes that failed since what they add to the DAG is refused."""

from __future__ import annotations

from condor_pydagman.features.growth.shown import REFUSED

ADVICE = {
    REFUSED: "{out} has all errors, with their lines and what can be done; condor_dag_checker -lint"
    " looks at the file as it is now."
}
