"""What DAGMan says of groups of nodes that run at sites."""

from __future__ import annotations

from typing import Any

from condor_pydagman.adapters.request_client import groups_of
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag


def asked(dag: Dag, primary: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """How its groups stand; see `monitor.outside_facts`."""
    if not dag.groups:
        return {}, ()
    try:
        return {"sites": tuple(groups_of(primary))}, ()
    except PydagmanError as error:
        return {}, (f"DAGMan does not report the state of its groups of nodes: {error}",)
