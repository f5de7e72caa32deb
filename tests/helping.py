"""Asks a helper in its process, and waits for what comes."""

from __future__ import annotations

import select
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.helper_process import Helper, HelperProcess
from tests.waiting import until


class Asker:
    """DAGMan's side of a helper.

    Args:
        hangs: a request that does makes this file; its time is over then.
    """

    def __init__(self, helper: Helper, hangs: Path | None = None) -> None:
        self.now = 1000.0
        self.hangs = hangs
        self.timeout_s = helper.timeout_s
        self._epoll = select.epoll()
        clock = lambda: self.now  # noqa: E731
        self.process = HelperProcess(helper, self._epoll, clock, pytest.fail)
        self.replies: list[Any] = []

    def ask(self, request: Any) -> Any:
        """The next reply to come."""
        self.process.ask(request, self.replies.append)
        return self.reply()

    def reply(self) -> Any:
        """The next one."""
        until(self._replied, "an answer", pause_s=0)
        return self.replies.pop(0)

    def _replied(self) -> bool:
        if not self.replies:
            due = self.process.next_deadline()
            self._epoll.poll(0.0 if due is not None and due <= self.now else 0.02)
            if self.hangs is not None and self.hangs.exists():
                self.hangs.unlink()
                self.now += self.timeout_s
            for then, reply in self.process.results():
                then(reply)
        return bool(self.replies)
