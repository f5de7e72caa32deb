"""Nodes that failed since what they publish can't be read."""

from __future__ import annotations

from condor_pydagman.features.publish.run import UNREADABLE

ADVICE = {
    UNREADABLE: "The job or the POST script of the node must leave that file on the machine of"
    " DAGMan, with values that PUBLISH takes: docs/decisions.md."
}
