"""Which line of a Python program has said what."""

from __future__ import annotations

import sys
from types import CodeType

from condor_pydagman.api.dag_errors import Place

_OWN = __name__.rpartition(".")[0]


class Places:
    """Lines of programs by small numbers, of which millions of commands can each keep one."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[CodeType, int], int] = {}

    def here(self) -> int:
        """The number of the line of the program that has called this package."""
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals["__name__"].startswith(_OWN):
            frame = frame.f_back
        return self._numbers.setdefault((frame.f_code, frame.f_lineno), len(self._numbers))

    def place(self, number: int) -> Place:
        """The line with that number."""
        for index, (code, line) in enumerate(self._numbers):
            if index == number:
                return Place(code.co_filename, line)
        return Place("")
