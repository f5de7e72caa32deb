"""`condor_pydagman sites monitor`: rounds, the end, --check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.features.sites import cli as sites_command
from condor_pydagman.features.sites.adapters.monitor import Monitor, Outcome


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
        "from condor_pydagman.features.sites import cli as s\n"
        "s._log_to('/dev/full'); s._say('published: north')\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_that_all_is_well_again_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(sites_command, "_say", said.append)
    monkeypatch.setattr(sites_command.signal, "signal", lambda *_: None)
    monkeypatch.setattr(sites_command.signal, "pthread_sigmask", lambda *_: None)
    monkeypatch.setattr(sites_command.signal, "sigtimedwait", lambda *_: None)
    gone = PoolError("the collector: gone", transient=True)
    rounds = iter([gone, gone, Outcome(("north",), ()), Outcome(("north",), ()), gone])

    class Rounds:
        def round(self) -> Outcome:
            found = next(rounds, None)
            if found is None:
                raise sites_command._Ended
            if isinstance(found, PoolError):
                raise found
            return found

        def end(self) -> None:
            said.append("end")

    assert sites_command._go_on(cast(Monitor, Rounds()), 5.0) == 0
    failure = "the collector: gone; retrying every 5 s"
    assert said == [failure, "all is well again: 1 site published", failure, "end"]


def test_check_tells_of_probes_and_counts_sites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "north.ad").write_text('Name = "north"\nMaxMatches = 2\n')
    assert sites_command._check(tmp_path) == 0
    assert capsys.readouterr().out == "1 site, 0 of them wrong\n"
    (tmp_path / "north.probe").write_text("#!/bin/sh\n")
    assert sites_command._check(tmp_path) == 1
    assert capsys.readouterr().out == (
        f"{tmp_path}/north.probe: it can't be executed (chmod +x {tmp_path}/north.probe)\n"
        "1 site, 1 of them wrong\n"
    )
