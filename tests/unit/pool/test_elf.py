"""Telling programs from scripts."""

from __future__ import annotations

import sys
from pathlib import Path

from condor_pydagman.pool import elf


def test_a_program_has_an_interpreter() -> None:
    assert {elf.PT_INTERP, elf.PT_DYNAMIC} <= elf.segments(Path(sys.executable).resolve())


def test_scripts_and_stubs_are_none(tmp_path: Path) -> None:
    for content in (b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01", b"x" * 100):
        (tmp_path / "file").write_bytes(content)
        assert elf.segments(tmp_path / "file") == set()
