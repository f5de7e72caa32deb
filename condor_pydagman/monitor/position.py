"""The position of an event in the stream: how far both logs had been read.

Its text is the `id` of events.  It holds across restarts of the reader: of the next run of the DAG,
whose nodes log begins anew, everything comes after it.
"""

from __future__ import annotations

import re

from condor_pydagman.errors import UsageError
from condor_pydagman.named_tuple import NamedTuple

_TEXT = re.compile(r"([0-9a-f]{8})\.(\d{1,18})-([0-9a-f]{8})\.(\d{1,18})(?:([jo])(\d{1,4}))?")
JOB_LOG, OUT_LOG = "j", "o"


class Position(NamedTuple):
    """How far the logs have been read.

    Attributes:
        log_mark, out_mark: which content of each file it is about; 0 if nothing has been read.
        log, out: offsets, bytes.
        taken_from: JOB_LOG or OUT_LOG if of the next entry of that log some events, `taken` of
            them, have come already; '' otherwise.
    """

    log_mark: int = 0
    log: int = 0
    out_mark: int = 0
    out: int = 0
    taken_from: str = ""
    taken: int = 0

    def __str__(self) -> str:
        end = f"{self.taken_from}{self.taken}" if self.taken_from else ""
        return f"{self.log_mark:08x}.{self.log}-{self.out_mark:08x}.{self.out}{end}"


def parse_position(text: str) -> Position:
    """Read the `id` of an event; '' and '0' are the beginning.

    Raises:
        UsageError: it is none.
    """
    if text in ("", "0"):
        return Position()
    found = _TEXT.fullmatch(text)
    if found is None:
        raise UsageError(
            f'{text!r} is not the id of an event; give the "id" of the last event that you have,'
            " or 0 for all events"
        )
    log_mark, log, out_mark, out, taken_from, taken = found.groups()
    return Position(
        int(log_mark, 16), int(log), int(out_mark, 16), int(out), taken_from or "", int(taken or 0)
    )
