"""The end of `condor_pydagman sites monitor`."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from condor_pydagman.cli import sites_command
from condor_pydagman.errors import PoolError


class Busy:
    """A monitor whose collector is too busy at first."""

    def __init__(self, times: int) -> None:
        self.times = times

    def end(self) -> None:
        self.times -= 1
        if self.times >= 0:
            raise PoolError("the collector: too busy", transient=True)


@pytest.mark.parametrize(("times", "code"), [(0, 0), (4, 0), (9, 1)])
def test_the_ads_are_taken_back_in_the_end(
    times: int, code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    busy: Any = Busy(times)
    assert sites_command._take_back(busy) == code
    assert ("stay until they are too old" in capfd.readouterr().out) == bool(code)


def test_a_log_on_a_full_disk() -> None:
    """The monitor goes on; what it has to say is lost."""
    program = (
        "from condor_pydagman.cli import sites_command as s\n"
        "s._log_to('/dev/full'); s._say('published: north')\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
