"""An explanation as a value that shows itself as text."""

from __future__ import annotations

from typing import Any

from condor_pydagman.cli.explain import MAX_WIDTH, text_of
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.printable import printable


class RunExplanation(Explanation):
    """What `condor_pydagman explain` says of a run, or of a node of it.

    Its text is that of the command; `to_json()` is the object that the command prints as JSON.

    Attributes:
        dag: the DAG file.
        headline: the answer in a sentence.
        findings: what there is to say, the most important first.
        node: the node's full name; '' for the whole DAG.
        life: what has happened to the node.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(printable, text_of(self, MAX_WIDTH)))

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """For IPython, which prefers what it has for tuples to `_repr_mimebundle_`."""
        printer.text(str(self))
