"""What HTCondor's own programs do, recorded; a folder for each version of HTCondor.

A recording is JSON with the value of each name on lines of its own: what a new version of HTCondor
does otherwise shows as a difference of those lines.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
WIDTH = 100  # a list or an object that fits in so many characters stands on one line


def versions() -> list[str]:
    """The versions of HTCondor that have been recorded, oldest first."""
    found = [path.name for path in ROOT.iterdir() if path.name[0].isdigit()]
    return sorted(found, key=lambda name: [int(part) for part in name.split(".")])


def directory(version: str = "") -> Path:
    """The recordings of a version of HTCondor: the newest one that is not newer.

    With no version, or where all are newer, those of the newest version.
    """
    known = versions()
    wanted = [int(part) for part in version.split(".")] if version else []
    fitting = [name for name in known if [int(p) for p in name.split(".")] <= wanted]
    return ROOT / (fitting or known or [version])[-1]


def read(path: Path) -> Any:
    """The content of a recording."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a recording, sorted by name."""
    lines = [f"{json.dumps(name)}: {text_of(content[name], indent=1)}" for name in sorted(content)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def text_of(value: Any, indent: int = 0) -> str:
    """JSON of a value: what is short on one line, else each entry on lines of its own."""
    whole = json.dumps(value, ensure_ascii=True)
    if not isinstance(value, (list, dict)) or not value or len(whole) + indent <= WIDTH:
        return whole
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)}: {text_of(one, indent + 1)}" for key, one in value.items()]
    else:
        entries = [text_of(one, indent + 1) for one in value]
    pad = " " * indent
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n" + ",\n".join(f"{pad}{entry}" for entry in entries) + f"\n{pad[1:]}{right}"
