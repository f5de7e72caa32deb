"""The program `runner` as the one file that jobs get."""

from __future__ import annotations

import re
from pathlib import Path

from condor_pydagman.features.bundle import runner, runner_tasks

_IMPORT = re.compile(r"^from condor_pydagman\S* import \([^)]*\)\n", re.MULTILINE)


def program() -> str:
    """Its text: the first part stands where the other one imports it."""
    files = Path(runner.__file__), Path(runner_tasks.__file__)
    text, part = (one.read_text(encoding="utf-8") for one in files)
    return _IMPORT.sub(lambda _: part, text, count=1)
