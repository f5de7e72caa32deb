"""One bundle: its nodes, the name of its job, and the texts that tell who is in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from condor_pydagman.names import BUNDLE, logged_name

NAME = f"{BUNDLE} "  # before the number, where HTCondor has the name of a node
MAX_NAMES = 700  # bytes of names that one record has; more would be cut


class Bundle:
    """One bundle."""

    __slots__ = (
        *("again_at", "asked", "begun", "behind", "cluster", "ended", "ended_at", "given_up"),
        *("held", "hold", "inside", "kind", "members", "missing", "not_home"),
        *("number", "parallel", "placed", "removed", "runs", "text", "unknown", "unplaced"),
        "worked_s",
    )

    def __init__(self, number: int, kind: str = "") -> None:
        self.number = number  # of the bundle, from 1
        self.kind = kind  # of its nodes; '' if it was made by an earlier DAGMan
        self.members: list[int] = []  # its nodes, in order
        self.inside = 0  # how many of them are in the queue as far as the DAG goes
        self.behind: set[int] = set()  # those that are to run when others of them have ended
        # how many of them run side by side, and have places in their category; if it was made by an
        # earlier DAGMan, the most that may do so
        self.parallel = 1
        self.cluster = 0  # of its job, 0 while there is none as far as is known
        self.runs = self.held = False  # whether its job runs, or is on hold
        # when its job has begun to run, and has ended, seconds since the epoch
        self.begun = self.ended_at = 0.0
        # whether its job is being submitted, or what it has done is being brought home
        self.asked = False
        self.unknown = False  # whether the reply to its submission was lost
        self.ended = ""  # how its job has left the queue, '' if it has not
        self.hold = ""  # why its job is on hold, if DAGMan has it removed for that
        self.removed = False  # whether somebody else than DAGMan has removed its job
        self.given_up = False  # whether DAGMan has its job removed
        # since when the schedd has not had its job, seconds since the epoch
        self.missing: float | None = None
        self.again_at = 0.0  # when its results are to be brought home again, which failed
        self.placed: set[int] = set()  # nodes that have places in their category
        self.unplaced: deque[int] = deque()  # nodes that get one next, or have left
        self.not_home = 0  # how many of its nodes have ended whose files come home with the job
        self.worked_s = 0.0  # seconds that those of its nodes took of which that was known then
        # the description of its job, which is submitted when a record has been read back
        self.text = ""

    @property
    def to_come(self) -> int:
        """How many of its nodes run, or are to, as far as is known."""
        return self.inside + len(self.behind) - self.not_home


def number_of(node: str) -> int:
    """The number of the bundle whose job has this node name; 0 if no bundle's job has."""
    digits = node[len(NAME) :] if node.startswith(NAME) else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def parts_of(names: Iterator[str], most: int) -> Iterator[str]:
    """Names with blanks between them, in texts that have at most so many bytes in a record."""
    part, size = "", 0
    for name in names:
        more = _bytes(name) + 1
        if part and size + more > most:
            yield part
            part, size = "", 0
        part, size = f"{part} {name}" if part else name, size + more
    yield part


def _bytes(name: str) -> int:
    """How many a name, as the log has it, takes in a record, where some are escaped."""
    return len(name.encode()) + name.count('"') + name.count("\\")


def fits(name: str) -> bool:
    """Whether records can tell that a node is in a bundle: they have blanks between names."""
    return " " not in name and _bytes(logged_name(name)) < MAX_NAMES
