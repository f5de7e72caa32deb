"""Waits for an effect of a DAG, until a timeout or the end of its DAGMan job.

A DAG whose DAGMan job has left the queue has no further effects: the wait fails at once, with the
end of `.dagman.out`, instead of at the timeout.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, Callable

# Seconds until a test gives up waiting; large, since only failures take so long.
TIMEOUT_S = 180.0
# Seconds after the end of DAGMan in which its last effects may still show.
AFTER_END_S = 10.0
_END = re.compile(r"^005 .*?\n\t\((\d)\) (?:Normal|Abnormal) termination \(\w+ ?\w* (\d+)\)", re.M)
_SHOWN = 3000


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


def log_tail(dag: Path) -> str:
    """The end of the DAG's `.dagman.out`; if there is none, of the log of the DAGMan job, and what
    DAGMan has printed."""
    said = []
    for suffix in (".dagman.out", ".lib.err", ".dagman.log"):
        path = Path(f"{dag}{suffix}")
        text = path.read_text(errors="replace").strip() if path.exists() else ""
        if text:
            said.append(f"{path.name} says:\n{text[-_SHOWN:]}")
        if suffix == ".dagman.out" and text:
            break
    return "\n".join(said) or f"{dag} has no .dagman.out, nor a log of its DAGMan job"


def until(
    what: Callable[[], Any],
    say: str,
    dag: Path | None = None,
    *,
    timeout: float = TIMEOUT_S,
    pause: float = 0.05,
    max_pause: float = 0.0,
) -> Any:
    """Wait until `what()` gives something true; returns that.

    Args:
        say: the effect, for the message.
        dag: the DAG whose DAGMan has the effect; None if it may have ended.
        pause: seconds between two checks, growing up to `max_pause`.

    Raises:
        AssertionError: timeout, or DAGMan has ended without it.
    """
    limit, ended = time.monotonic() + timeout, None
    while True:
        value = what()
        if value:
            return value
        if dag and ended is None:
            ended = end_of(dag)
            limit = limit if ended is None else min(limit, time.monotonic() + AFTER_END_S)
        if time.monotonic() > limit:
            why = "" if ended is None else f" (DAGMan has ended, exit code {ended})"
            raise AssertionError(f"waited in vain{why}: {say}\n{log_tail(dag) if dag else ''}")
        time.sleep(pause)
        pause = min(max(max_pause, pause), 1.2 * pause)
