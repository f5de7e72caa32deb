"""One bundle: its nodes, the name of its job, and the texts that tell who is in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import Enum

from condor_pydagman.names import BUNDLE, logged_name

NAME = f"{BUNDLE} "  # before the number, where HTCondor has the name of a node
MAX_NAMES = 700  # bytes of names that one record has; more would be cut


class Stage(Enum):
    """How far the job of a bundle has come, as far as is known."""

    COMING = "it is not in the queue, but may be on its way"
    UNKNOWN = "the reply to its submission was lost"
    IDLE = "it is in the queue"
    HELD = "it is on hold"
    RUNNING = "it runs"
    OVER = "it has left the queue"


class Bundle:
    """One bundle."""

    __slots__ = (
        *("asked", "begun", "behind", "cluster", "ended", "ended_at", "given_up", "hold"),
        *("inside", "kind", "members", "missing", "not_home", "number", "parallel", "placed"),
        *("removed", "stage", "text", "unplaced", "worked_s"),
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
        self.placed: set[int] = set()  # nodes that have places in their category
        self.unplaced: deque[int] = deque()  # nodes that get one next, or have left
        self.not_home = 0  # how many of its nodes have ended whose files come home with the job
        self.worked_s = 0.0  # seconds that those of its nodes took of which that was known then
        # The job: `BundleJobs.move` alone writes its stage.
        self.stage = Stage.COMING
        self.cluster = 0  # 0 while there is none as far as is known
        # the description, which is submitted when a record has been read back
        self.text = ""
        # when it has begun to run, and has ended, seconds since the epoch
        self.begun = self.ended_at = 0.0
        # since when the schedd has not had it, seconds since the epoch
        self.missing: float | None = None
        self.given_up = False  # whether DAGMan has it removed
        self.hold = ""  # why it is on hold, if that is why
        self.removed = False  # whether somebody else has removed it
        self.ended = ""  # how it has left the queue, in words
        # whether it is being submitted, or what it has done is being brought home
        self.asked = False

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
