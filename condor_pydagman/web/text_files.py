"""Pieces of text files that somebody else may have made, as they grow."""

from __future__ import annotations

import os
import re
from typing import Any

from condor_pydagman.adapters.files import open_ordinary
from condor_pydagman.errors import FileError
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.printable import printable
from condor_pydagman.web.access import Refused

MAX_BYTES = 256 << 10  # of an answer
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MAX_SEQUENCE = 4  # bytes of a character in UTF-8


def piece_of(path: str, begin: int) -> dict[str, Any]:
    """A piece of a file.

    Args:
        begin: offset, bytes; negative for so many bytes before the end.

    Raises:
        Refused: there is no such file, it can't be read, or it is none that has text.
    """
    name = printable(shown(path))
    try:
        with open_ordinary(path) as file:
            size = os.fstat(file.fileno()).st_size
            again = begin > size
            first = max(size + begin, 0) if begin < 0 else begin
            first = max(size - MAX_BYTES, 0) if again else first
            file.seek(first)
            data = file.read(MAX_BYTES)
    except FileNotFoundError:
        raise Refused(404, f"{name} does not exist yet") from None
    except FileError:
        raise Refused(403, f"{name} is not a regular file") from None
    except OSError as error:
        raise Refused(403, f"{name} can't be read: {error.strerror}") from None
    if first and (begin < 0 or again):
        skipped = _continuation(data)
        first, data = first + skipped, data[skipped:]
    data = _whole(data)
    text = _CONTROLS.sub("\ufffd", data.decode("utf-8", "replace"))
    return {"from": first, "to": first + len(data), "size": size, "text": text, "again": again}


def _continuation(data: bytes) -> int:
    """How many bytes at the begin belong to a character before."""
    head = data[: _MAX_SEQUENCE - 1]
    return len(head) - len(head.lstrip(bytes(range(0x80, 0xC0))))


def _whole(data: bytes) -> bytes:
    """Without the begin of a character at the end, whose other bytes are still to come."""
    for back in range(1, min(_MAX_SEQUENCE, len(data) + 1)):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back and byte < 0xF8 else data
    return data
