"""What can go wrong with a placement: kinds of faults, and what follows from each.

A transient fault may pass: the placement is tried again after a delay.  A lasting one will not, and
the next of `alt_protocols` is tried at once.  The exit code of a DATA node tells its kind.
"""

from __future__ import annotations

from enum import Enum


class FaultKind(Enum):
    """Exit code, whether it is transient, and what a person calls it.

    Codes below 10 have meanings for every command (1: a bug or a file of ours, 2: command line).
    """

    REQUEST = 10, False, "the request is wrong"
    NO_WAY = 11, False, "there is no way between the two URLs"
    MISSING = 12, False, "the source is not there"
    DENIED = 13, False, "access is denied"
    DESTINATION = 14, False, "the destination can't be written"
    NO_SPACE = 15, False, "there is no space"
    MISMATCH = 16, True, "size or checksum is wrong"
    SERVER = 17, True, "the server, or the way to it, fails"
    MODULE = 18, True, "a module or plugin fails"
    REFUSED = 19, False, "the server refuses the request"
    ALLOCATION = 20, False, "the allocation does not allow it"
    STOPPED = 21, True, "it was stopped"

    def __init__(self, exit_code: int, transient: bool, meaning: str) -> None:
        self.exit_code = exit_code
        self.transient = transient
        self.meaning = meaning


MAX_REASON = 2000  # characters
SEVERAL_EXIT_CODE = 30  # placements of one request file failed for different reasons


class Fault(Exception):
    """A placement, or an attempt at one, has failed."""

    def __init__(
        self,
        kind: FaultKind,
        reason: str,
        *,
        transient: bool | None = None,
        host: str = "",
        retry_after_s: float = 0,
        of_source: bool = False,
    ) -> None:
        if len(reason) > MAX_REASON:  # what a server says may be in it
            reason = reason[:MAX_REASON] + "..."
        super().__init__(reason)
        self.kind = kind  # of fault
        self.reason = reason  # one sentence without secrets (see `urls.masked_text`)
        # whether another attempt may succeed; that of the kind unless given
        self.transient = kind.transient if transient is None else transient
        self.host = host  # whose fault it is, '' if no host's; a host that fails is rested
        # how long the server asks to wait, in seconds; 0 if it does not say
        self.retry_after_s = retry_after_s
        # what is there is not what was asked for: no other way may take it
        self.of_source = of_source


def no_file(name: object) -> Fault:
    """The fault of a directory that is to be read as a file: a program that takes what it gets
    would save the server's list of its files."""
    reason = f"{name} is a directory; end it in / to transfer what is in it"
    return Fault(FaultKind.REQUEST, reason, of_source=True)


def exit_code(kinds: set[FaultKind]) -> int:
    """Exit code for the kinds of faults with which placements ended for good; 0 for none."""
    if not kinds:
        return 0
    return next(iter(kinds)).exit_code if len(kinds) == 1 else SEVERAL_EXIT_CODE


def meaning_of(code: int) -> str:
    """What an exit code of a worker means; '' if it is none of its own."""
    if code == SEVERAL_EXIT_CODE:
        return "its requests failed for different reasons"
    return next((kind.meaning for kind in FaultKind if kind.exit_code == code), "")
