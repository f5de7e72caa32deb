"""What must be known for an explanation beside what is known of any DAG (`Facts`)."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple


class Clause(NamedTuple):
    """A part of a job's Requirements that must hold."""

    text: str  # as an expression
    slots: int  # for how many slots of the pool it holds
    values: tuple[str, ...] = ()  # of the job's attributes in it, `RequestMemory = 1000000`


class Fit(NamedTuple):
    """Which machines can run jobs that are idle and all of one kind."""

    jobs: int  # how many there are
    job: str  # one of them
    nodes: tuple[str, ...]  # their nodes
    slots: int  # how many slots the pool has, without the dynamic ones within others
    able: int = 0  # how many could run them if they were free, by both sides' Requirements
    willing: int = 0  # how many meet the job's Requirements, whatever their own are
    free: int = 0  # how many could now
    clauses: tuple[Clause, ...] = ()  # of the job's Requirements
    partitionable: int = 0  # how many of the slots are, and can run several jobs


class Excerpt(NamedTuple):
    """The last lines of a file; or why there are none; and what they are called."""

    path: str
    lines: tuple[str, ...] = ()
    problem: str = ""
    what: str = "its last lines:"


class RescueFile(NamedTuple):
    """The newest rescue file: path, how many nodes it says are done, when it was written."""

    path: str
    done: int
    time: float = 0.0
