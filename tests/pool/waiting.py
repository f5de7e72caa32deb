"""Waits for an effect of a DAG: until a fact is there, or can't come any more.

A fact is a file, a line of a log, an answer.  No wait gives a verdict by how long it took: its
limit is so generous that only a fault reaches it, and then the error tells the whole story.  A DAG
whose DAGMan job has left the queue has no further effects, so then a wait fails at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import waiting

_END = re.compile(r"^005 .*?\n\t\((\d)\) (?:Normal|Abnormal) termination \(\w+ ?\w* (\d+)\)", re.M)
_SHOWN = 6000


def end_of(dag: Path) -> int | None:
    """Exit code of the DAGMan job of `dag` by its own log: negative for a signal, 2 if the job was
    removed, None while it is in the queue."""
    log = Path(f"{dag}.dagman.log")
    text = log.read_text(errors="replace") if log.exists() else ""
    ends = _END.findall(text)
    if ends:
        normal, number = ends[-1]
        return int(number) if normal == "1" else -int(number)
    return 2 if re.search(r"^009 ", text, re.M) else None


def story(dag: Path) -> str:
    """What there is to know of a DAG: its text, the ends of its logs, and which files there are."""
    told = []
    for suffix in ("", ".dagman.out", ".lib.err", ".dagman.log", ".nodes.log"):
        path = Path(f"{dag}{suffix}")
        text = path.read_text(errors="replace").strip() if path.exists() else ""
        if text:
            told.append(f"{path.name} ends with:\n{text[-_SHOWN:]}")
    names = sorted(path.name for path in dag.parent.iterdir()) if dag.parent.is_dir() else []
    return "\n".join([*told, f"files in {dag.parent}: {' '.join(names)}"])


def until(
    what: Callable[[], Any],
    say: str,
    dag: Path | None = None,
    *,
    pause: float = 0.05,
    max_pause: float = 0.0,
    tell: Callable[[], str] = str,
) -> Any:
    """Wait until `what()` gives something true; returns that.

    Args:
        say: the effect, for the message.
        dag: the DAG whose DAGMan has the effect; None if it may have ended.
        pause: seconds between two looks, growing up to `max_pause`.
        tell: more of the story, beside what the DAG's files say.

    Raises:
        AssertionError: it has not come, or DAGMan has ended without it.
    """

    def over() -> str:
        code = end_of(dag) if dag else None
        return "" if code is None else f"DAGMan has ended, exit code {code}"

    def whole() -> str:
        return "\n".join(filter(None, [tell(), story(dag) if dag else ""]))

    return waiting.until(what, say, over=over, story=whole, pause_s=pause, max_pause_s=max_pause)
