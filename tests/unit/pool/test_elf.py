"""Telling programs from scripts."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from condor_pydagman.pool import elf


def test_a_program_has_an_interpreter() -> None:
    assert {elf.PT_INTERP, elf.PT_DYNAMIC} <= elf.segments(Path(sys.executable).resolve())


def test_scripts_and_stubs_are_none(tmp_path: Path) -> None:
    for content in (b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01", b"x" * 100):
        (tmp_path / "file").write_bytes(content)
        assert elf.segments(tmp_path / "file") == set()


def test_a_program_is_made_runnable_after_all_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is killed meanwhile leaves no program that runs and fails later."""
    done: list[str] = []
    monkeypatch.setattr(elf, "_patch", lambda command: done.append(Path(command[-1]).name))
    (tmp_path / "usr/lib/machine").mkdir(parents=True)
    for name in ("usr/lib/ld-linux.so.2", "usr/lib/machine/libc.so.6"):
        (tmp_path / name).touch()
    for name in ("usr/bin/patchelf", "usr/bin/program", "usr/lib/module.so"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(Path(sys.executable).resolve(), tmp_path / name)
    elf.make_runnable(tmp_path)
    assert done[0] == "module.so"
    assert done[-1] == "program"
