"""The steps in which what is left of a DAG can run."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.steps import Steps, steps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JOB A x\nJOB B x\nJOB C x\nJOB D x\nPARENT A CHILD B C\nPARENT B C CHILD D\n",
         Steps([1, 2, 1], [0], 0)),
        ("JOB A x DONE\nJOB B x\nJOB C x\nPARENT A CHILD B C\n", Steps([2], [1, 2], 1)),
        # the longest way counts, wherever its nodes are defined
        ("JOB C x\nJOB B x\nJOB A x\nPARENT A CHILD B C\nPARENT B CHILD C\n",
         Steps([1, 1, 1], [2], 0)),
        ("JOB A x\nFINAL F x\nSERVICE S x\n", Steps([1], [0], 0)),
        # a join node takes a step
        ("JOB A x\nJOB B x\nJOB C x\nJOB D x\nPARENT A B CHILD C D\n", Steps([2, 1, 2], [0, 1], 0)),
    ],
)  # fmt: skip
def test_steps(text: str, expected: Steps) -> None:
    assert steps(build(["x"], lambda _: iter([text]), BuildOptions())) == expected
