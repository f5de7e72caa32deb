"""SHARED_LIMIT: what the checker finds."""

from __future__ import annotations

from tests.unit.graph.texts import JOBS
from tests.unit.lint.paper import found


def test_a_shared_limit_of_a_category_without_nodes() -> None:
    (finding,) = found(JOBS + "SHARED_LIMIT tape CATEGORY c\n")
    assert (finding.code, finding.line) == ("DAG207", 4)
    assert finding.message == "no node is in category c, so SHARED_LIMIT tape has no effect"
