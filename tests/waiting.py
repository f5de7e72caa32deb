"""How tests wait for what another process or thread does: for the fact, not for a time."""

from __future__ import annotations

import contextlib
import select
import signal
import time
from collections.abc import Iterator
from typing import Any, Callable, TypeVar

T = TypeVar("T")

# Seconds until a wait is given up.  Nothing is ever as slow as that: who waits in vain has found
# something that does not happen, on however busy a machine.
LIMIT_S = 600.0


def until(
    fact: Callable[[], Any],
    what: str,
    *,
    over: Callable[[], str] = str,
    story: Callable[[], object] = str,
    pause_s: float = 0.005,
    max_pause_s: float = 0.0,
) -> Any:
    """Wait until `fact()` gives something true; returns that.

    Args:
        what: the fact, for the message.
        over: why the fact can't come any more, '' as long as it can.
        story: what else helps to understand why it does not come; asked only then.
        pause_s: seconds between two looks, growing up to `max_pause_s`.

    Raises:
        AssertionError: it can't come any more, or LIMIT_S have passed.
    """
    limit = time.monotonic() + LIMIT_S
    while True:
        why = over()  # asked first: what was the last effect is there already
        found = fact()
        if found:
            return found
        if why or time.monotonic() > limit:
            reason = f" ({why})" if why else ""
            raise AssertionError(f"waited in vain{reason}: {what}\n{story()}".strip())
        time.sleep(pause_s)
        pause_s = min(max(max_pause_s, pause_s), 1.2 * pause_s)


def readable(source: Any, what: str) -> None:
    """Wait until there is something to read from a file, socket or process.

    Raises:
        AssertionError: LIMIT_S have passed.
    """
    if not select.select([source], [], [], LIMIT_S)[0]:
        raise AssertionError(f"waited in vain: {what}")


def woken(make: Callable[[], T]) -> T:
    """What `make` gives, once the kernel wakes it: a user has a limited number of such at a time.

    Raises:
        AssertionError: LIMIT_S have passed.
    """
    made: list[Any] = []

    def is_woken() -> bool:
        made[:] = [make()]
        return bool(made[0].fileno() >= 0)

    until(is_woken, "an inotify instance (fs.inotify.max_user_instances)", pause_s=0.5)
    return made[0]  # type: ignore[no-any-return]


@contextlib.contextmanager
def ending(what: str) -> Iterator[None]:
    """For what would never end if it were wrong.

    Raises:
        AssertionError: LIMIT_S have passed.
    """

    def fail(*_: object) -> None:
        raise AssertionError(f"{what} has not ended after {LIMIT_S:.0f} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_gone(pid: int) -> bool:
    """Whether a process has ended, reaped by its parent or not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
