"""Topic files: many small test cases in one file, which a person reads from top to bottom.

    # What precedes the first case is for the reader.

    #=== first-case
    JOB A a.sub
    SPLICE S s.dag
    #== s.dag
    JOB X x.sub

    #=== with-carriage-returns escaped
    JOB A a.sub\\r
    JOB B b.sub\\

A line `#=== NAME` begins a case, whose name has no blanks; the empty line before it belongs to no
case.  The text below it is the case's main file, up to a line `#== FILE`, which begins another.
Such a file before the first case is one that all cases share.

What an editor or a terminal would hide or spoil (control characters, bytes that are not UTF-8, byte
order marks, blanks at the end of a line, a file without a newline at its end) stands only in cases
with the word `escaped` after their name.  There, as in the last case above,

    \\xHH   is the byte with that hexadecimal number
    \\r     is a carriage return
    \\\\     is a backslash
    \\      at the end of a line means that there is no newline
"""

from __future__ import annotations

import re
from pathlib import Path

_CASE = re.compile(r"^\n?#=== (\S+)( escaped)?\n", re.M)
_FILE = re.compile(r"^#== (.+)\n", re.M)
_STRAY = re.compile(r"^#===.*", re.M)
_ESCAPE = re.compile(rb"\\(\\|\n|r|x[0-9a-f]{2})?")


def read(path: Path) -> dict[str, str]:
    """The text of each case of a topic file, by name; bytes that are not UTF-8 as surrogates."""
    _, *parts = _CASE.split(path.read_bytes().decode("utf-8"))
    found: dict[str, str] = {}
    for name, escaped, text in zip(parts[::3], parts[1::3], parts[2::3]):
        stray = _STRAY.search(text)
        if stray:
            raise ValueError(f"{path.name}: {stray[0]!r} is not '#=== NAME' or '#=== NAME escaped'")
        if name in found:
            raise ValueError(f"{path.name}: there are two cases {name}")
        found[name] = unescaped(text) if escaped else text
    return found


def read_all(directory: Path, suffix: str) -> dict[str, str]:
    """The text of each case of all topic files TOPIC.SUFFIX, by `TOPIC/NAME`."""
    return {
        f"{path.stem}/{name}": text
        for path in sorted(directory.glob(f"*.{suffix}"))
        for name, text in read(path).items()
    }


def files(text: str, main: str) -> dict[str, str]:
    """The files of a case, by name; `main` is that of the first."""
    parts = _FILE.split(text)
    return {main: parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def shared(path: Path) -> dict[str, str]:
    """The files before the first case of a topic file, by name."""
    head, *_ = _CASE.split(path.read_bytes().decode("utf-8"), maxsplit=1)
    _, *parts = _FILE.split(head)
    return dict(zip(parts[::2], parts[1::2]))


def unescaped(text: str) -> str:
    """What a text with backslash escapes stands for."""
    return _ESCAPE.sub(_meant, text.encode("utf-8")).decode("utf-8", "surrogateescape")


def _meant(escape: re.Match[bytes]) -> bytes:
    word = escape[1]
    if word is None:
        raise ValueError(r"a backslash that begins none of \xHH, \r, \\ and \NEWLINE")
    if word.startswith(b"x"):
        return bytes.fromhex(word[1:].decode())
    return {b"\n": b"", b"r": b"\r", b"\\": b"\\"}[bytes(word)]
