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


class Threads:
    """One thread for files, one for pictures, some for whatever steers DAGs."""

    def __init__(self) -> None:
        self._files = ThreadPoolExecutor(1, "files")
        self._pictures = ThreadPoolExecutor(1, "pictures")
        self._steering = ThreadPoolExecutor(4, "steering")

    async def with_files(self, do: Callable[..., T], *arguments: Any) -> T:
        """Run something that reads files or uses what was read.

        Raises:
            Refused: it takes too long; a file system hangs, perhaps.
        """
        return await self._run(self._files, "the DAG's files are", do, arguments)

    async def with_picture(self, do: Callable[..., T], *arguments: Any) -> T:
        """Run something that lays out a picture.

        Raises:
            Refused: it takes too long.
        """
        return await self._run(self._pictures, "the picture is", do, arguments)

    async def with_steering(self, do: Callable[..., T], *arguments: Any) -> T:
        """Run something that asks a DAGMan.

        Raises:
            Refused: it takes too long.
        """
        return await self._run(self._steering, "DAGMan is", do, arguments)

    async def _run(
        self, pool: ThreadPoolExecutor, what: str, do: Callable[..., T], arguments: Any
    ) -> T:
        running = asyncio.get_running_loop().run_in_executor(pool, do, *arguments)
        try:
            return await asyncio.wait_for(asyncio.shield(running), PATIENCE_S)
        except (TimeoutError, asyncio.TimeoutError):
            running.add_done_callback(_retrieve)
            raise Refused(503, f"{what} slow to answer; try again") from None

    def close(self) -> None:
        """Begin nothing more; what runs is not waited for."""
        for pool in (self._files, self._pictures, self._steering):
            pool.shutdown(wait=False, cancel_futures=True)


def _retrieve(future: asyncio.Future[Any]) -> None:
    """So that nobody complains of an error that was never looked at."""
    if not future.cancelled():
        future.exception()
