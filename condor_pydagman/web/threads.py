"""Threads for what may block, so that the server's loop never does.

What reads a DAG's files runs in one thread for all DAGs: the code for this changes the working
directory of the process, and objects that it keeps are used by it only.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, TypeVar

from condor_pydagman.web.access import Refused

PATIENCE_S = 60.0
T = TypeVar("T")


class _Pool:
    """Threads for one kind of work.

    Args:
        what: is slow, in the words of a refusal.
    """

    def __init__(self, count: int, name: str, what: str) -> None:
        self._threads, self._what = ThreadPoolExecutor(count, name), what

    async def __call__(self, do: Callable[..., T], *arguments: Any) -> T:
        """Run something.

        Raises:
            Refused: it takes too long; a file system hangs, perhaps.
        """
        running = asyncio.get_running_loop().run_in_executor(self._threads, do, *arguments)
        try:
            return await asyncio.wait_for(asyncio.shield(running), PATIENCE_S)
        except (TimeoutError, asyncio.TimeoutError):
            running.add_done_callback(_retrieve)
            raise Refused(503, f"{self._what} slow to answer; try again") from None

    def close(self) -> None:
        """Begin nothing more; what runs is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Threads:
    """One thread for files, one for pictures, some for whatever steers DAGs."""

    def __init__(self) -> None:
        # runs something that reads files or uses what was read
        self.with_files = _Pool(1, "files", "the DAG's files are")
        # runs something that lays out a picture
        self.with_picture = _Pool(1, "pictures", "the picture is")
        self.with_steering = _Pool(4, "steering", "DAGMan is")  # runs something that asks a DAGMan

    def close(self) -> None:
        """Begin nothing more; what runs is not waited for."""
        for pool in (self.with_files, self.with_picture, self.with_steering):
            pool.close()


def _retrieve(future: asyncio.Future[Any]) -> None:
    """So that nobody complains of an error that was never looked at."""
    if not future.cancelled():
        future.exception()
