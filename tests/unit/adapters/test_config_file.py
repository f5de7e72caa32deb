"""How a CONFIG file is read that the bindings can't read, for a reason that is not its own."""

from __future__ import annotations

import errno
import faulthandler
import os
import signal
from pathlib import Path
from typing import Callable

import pytest

from condor_pydagman.adapters import config_file
from condor_pydagman.errors import ConfigError


def killed() -> None:
    faulthandler.disable()  # whose lines would stand in the middle of the test run's
    os.kill(os.getpid(), signal.SIGSEGV)


def raising(error: BaseException) -> Callable[[], None]:
    def do() -> None:
        raise error

    return do


FAULT = "an error within HTCondor's Python bindings"


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (raising(RecursionError("too deep")), f"RecursionError: too deep ({FAULT}"),
        (raising(KeyboardInterrupt()), f"KeyboardInterrupt:  ({FAULT}"),
        (raising(IndexError("out of range")), f"IndexError: out of range ({FAULT}"),
        (raising(OSError(errno.ENOSPC, "No space left on device")), "No space left on device"),
        (killed, f"SIGSEGV ended the bindings, which read it; {FAULT}"),
    ],
)
def test_what_is_no_mistake_of_the_user_is_told_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None], said: str
) -> None:
    file = tmp_path / "x.config"
    file.write_text("DAGMAN_MAX_JOBS_IDLE = 7\n")
    monkeypatch.setattr(config_file, "_difference", lambda _: happens())
    with pytest.raises(ConfigError) as caught:
        config_file.settings(str(file))
    text = str(caught.value)
    assert text.startswith(f"ERROR: Can't read DAGMan config file: {file}: {said}")
    assert "there is a mistake" not in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        *(("A", "x", True), ("A", "x\ny", True), ("A", "a\\b", True), ("A", "x\\", False)),
        *(("A", "x \\ \ny", False), ("A", "$(B)", False), ("A", "x @=y", False)),
    ],
)
def test_what_is_read_back_as_it_is_written(name: str, text: str, kept: bool) -> None:
    assert config_file._survives_rewriting(name, text) is kept


def test_a_file_that_others_can_write_is_not_own(tmp_path: Path) -> None:
    file = tmp_path / "x.config"
    file.write_text("DAGMAN_MAX_JOBS_IDLE = 7\n")
    assert config_file.settings(str(file), own=True)["DAGMAN_MAX_JOBS_IDLE"] == "7"
    file.chmod(0o646)
    assert config_file.settings(str(file))["DAGMAN_MAX_JOBS_IDLE"] == "7"
    with pytest.raises(ConfigError, match="others than you can write it"):
        config_file.settings(str(file), own=True)
