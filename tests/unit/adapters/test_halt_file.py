"""The halt file: appearing, vanishing, both at once; and that the kernel wakes us for it."""

from __future__ import annotations

import os
import select
from pathlib import Path

import pytest

from condor_pydagman.adapters import inotify
from condor_pydagman.adapters.halt_file import HaltFile
from tests.waiting import woken

pytestmark = pytest.mark.usefixtures("work_directory")


def is_woken(halt: HaltFile) -> bool:
    poll = select.poll()
    poll.register(halt.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def test_it_is_told_once_when_it_appears_and_once_when_it_vanishes() -> None:
    halt = HaltFile("t.dag.halt")
    assert halt.look() is None
    Path("t.dag.halt").touch()
    assert (halt.look(), halt.look()) == (True, None)
    os.unlink("t.dag.halt")
    assert (halt.look(), halt.look()) == (False, None)


def test_one_that_was_there_before() -> None:
    Path("t.dag.halt").touch()
    assert HaltFile("t.dag.halt").look() is True


def test_one_that_comes_and_goes_between_two_looks_is_none() -> None:
    halt = woken(lambda: HaltFile("t.dag.halt"))
    Path("t.dag.halt").touch()
    os.unlink("t.dag.halt")
    assert halt.look() is None
    assert not is_woken(halt)


@pytest.mark.parametrize("name", ["t.dag.halt", "sub/t.dag.halt"])
def test_the_kernel_wakes_us(name: str) -> None:
    Path("sub").mkdir()
    halt = woken(lambda: HaltFile(name))
    assert not is_woken(halt)
    Path(name).touch()
    assert is_woken(halt)
    assert halt.look() is True
    assert not is_woken(halt)
    os.replace(name, name + ".off")
    assert is_woken(halt)
    assert halt.look() is False


def test_without_help_from_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inotify, "is_remote", lambda path: True)
    halt = HaltFile("t.dag.halt")
    assert halt.fileno() == -1
    Path("t.dag.halt").touch()
    assert halt.look() is True


def test_its_directory_is_gone() -> None:
    Path("sub").mkdir()
    halt = HaltFile("sub/t.dag.halt")
    os.rmdir("sub")
    assert halt.look() is None
