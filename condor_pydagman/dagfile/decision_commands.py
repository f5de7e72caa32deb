"""The commands by which a DAG decides what runs: RUN_IF, PUBLISH, ENOUGH, BRAKE, and the lines of
rescue files that tell what has been decided.

All are ours.  `commands` has them with all others.
"""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple


class RunIf(NamedTuple):
    """RUN_IF: the node runs if the ClassAd expression is true; `otherwise` is SKIP or DONE."""

    line: int
    node: str
    expression: str
    otherwise: str = "SKIP"


class Publish(NamedTuple):
    """PUBLISH: values of the node that conditions can name, of a file or attributes of its job."""

    line: int
    node: str
    file: str = ""
    attributes: tuple[str, ...] = ()


class Skipped(NamedTuple):
    """SKIPPED: the node's RUN_IF was false, or all its parents were skipped; of a rescue file."""

    line: int
    node: str


class NodeResult(NamedTuple):
    """NODE_RESULT: what conditions can ask of a node that is done; `text` is a ClassAd."""

    line: int
    node: str
    text: str


class BrakeLine(NamedTuple):
    """BRAKE: what the DAG does when more nodes fail than so many, or percent (see
    `graph.model.Brake`)."""

    line: int
    name: str
    limit: int
    percent: bool
    last: int
    alike: str
    category: str
    effect: str


class EnoughLine(NamedTuple):
    """ENOUGH: what is left of some nodes is not needed when so many of them, or percent, are done.

    `members` is ALL_NODES, CATEGORY or PARENTS; `name` is the category, or the node whose parents
    are meant; `effect` is REMOVE or WAIT.
    """

    line: int
    members: str
    name: str
    limit: int
    percent: bool = False
    effect: str = "REMOVE"


class NotNeeded(NamedTuple):
    """NOT_NEEDED: the node was not needed any more, since an ENOUGH was reached; of a rescue
    file."""

    line: int
    node: str


class NotDone(NamedTuple):
    """NOT_DONE: a JOB line calls the node DONE, and a person has run it anew; of a rescue file."""

    line: int
    node: str
