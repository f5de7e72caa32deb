"""The argument by which commands are told which DAG is meant."""

from __future__ import annotations

import argparse

from condor_pydagman.monitor.found_dag import FoundDag, find_dag, find_here


def add_dag_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument `dag`."""
    parser.add_argument(
        "dag",
        nargs="?",
        metavar="DAG",
        help="the first DAG file as condor_submit_dag was given it, or the cluster of DAGMan's job"
        " (default: the only DAG of this directory)",
    )


def chosen_dag(dag: str | None, *, ask: bool = True) -> FoundDag:
    """The DAG that the argument means.

    Args:
        ask: whether the schedd is asked for its job.

    Raises:
        PydagmanError: there is none, or more than one.
    """
    return find_here(ask=ask) if dag is None else find_dag(dag, ask=ask)
