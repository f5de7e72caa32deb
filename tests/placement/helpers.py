"""What tests of the ways share: surroundings, requests, programs that are modules or plugins."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.way import Outcome, Progress, Surroundings


class Moves:
    """Makes transfers."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.way = DirectWay()

    def __call__(self, source: object, destination: object, **more: Any) -> Outcome:
        wish = transfer(str(source), str(destination), **more)
        return self.way.perform(wish, self.around, Progress(threading.Event()))

    def with_environment(self, **variables: str) -> None:
        self.way.thread_ends()
        self.around = self.around._replace(environment=variables)


def surroundings(directory: Path, said: list[str] | None = None, **settings: Any) -> Surroundings:
    """Surroundings whose log is `said`."""
    lines: list[str] = [] if said is None else said
    environment = {"PATH": os.environ["PATH"]}
    return Surroundings(Settings(**settings), environment, str(directory), lines.append)


def progress(room: int | None = None) -> Progress:
    return Progress(threading.Event(), room)


def transfer(source: str, destination: str | Path, **more: Any) -> Transfer:
    return Transfer(parse_url(source), parse_url(str(destination)), **more)


def program(path: Path, text: str, interpreter: str = "/bin/sh") -> Path:
    """An executable script."""
    path.write_text(f"#!{interpreter}\n{text}\n")
    path.chmod(0o755)
    return path
