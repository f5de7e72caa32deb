"""What HTCondor's own programs did, by their version: VERSION/NAME.json.

A test compares with the newest version that has been recorded.  A recording is written so that a
diff shows the cases that changed, and in each the values that did.
"""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LEFT = "left"  # a folder of files as stock left them, which are never twice the same
WIDTH = 80  # of a list or object that stays on one line


def versions() -> list[str]:
    """The versions of HTCondor that have been recorded."""
    return [path.name for path in HERE.iterdir() if path.name[0].isdigit()]


def newest(name: str) -> Path:
    """The file of that name of the newest version that has one."""
    return max(HERE.glob(f"*/{name}"), key=lambda path: _numbers(path.relative_to(HERE).parts[0]))


def known(name: str) -> Any:
    """The same as `load`, but empty where no version has been recorded."""
    return load(name) if any(HERE.glob(f"*/{name}")) else {}


def load(name: str) -> Any:
    """The newest recording of that name."""
    path = newest(name)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def version_in(text: str) -> str:
    """The version's number in what `condor_version` prints."""
    found = re.search(r"\$CondorVersion: (\d+\.\d+\.\d+) ", text)
    if found is None:
        raise ValueError(f"this tells no version of HTCondor: {text!r}")
    return found[1]


def text_of(recording: dict[str, Any]) -> str:
    """The recording as a file: sorted, a block for each case, and in it one value a line."""
    blocks = [f"{json.dumps(name)}: {_block(recording[name], 0)}" for name in sorted(recording)]
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def difference(first: dict[str, Any], other: dict[str, Any], names: tuple[str, str]) -> str:
    """What is not the same, entry by entry; '' if all is.

    Args:
        names: what the two are called.
    """
    told = []
    for entry in sorted({*first, *other}):
        pair = first.get(entry), other.get(entry)
        if pair[0] != pair[1]:
            texts = [text_of({entry: value}).splitlines() for value in pair]
            told += difflib.unified_diff(*texts, *names, lineterm="", n=2)
    return "\n".join(told)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _block(value: Any, depth: int) -> str:
    """A value in JSON, on one line if it is short; a whole case never is."""
    line = json.dumps(value)
    short = depth > 0 and len(line) <= WIDTH
    if short or not value or not isinstance(value, (dict, list)):
        return line
    indent = " " * (depth + 1)
    if isinstance(value, list):
        rows = [indent + _block(entry, depth + 1) for entry in value]
    else:
        rows = [f"{indent}{json.dumps(k)}: {_block(v, depth + 1)}" for k, v in value.items()]
    first, last = "[]" if isinstance(value, list) else "{}"
    return f"{first}\n" + ",\n".join(rows) + f"\n{' ' * depth}{last}"
