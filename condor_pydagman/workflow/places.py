"""Which line of a Python program has said what."""

from __future__ import annotations

import sys

from condor_pydagman.api.dag_errors import Place

_OWN = __name__.rpartition(".")[0]


class Places:
    """Lines of programs by small numbers, of which millions of commands can each keep one."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}

    def here(self) -> int:
        """The number of the line of the program that has called this package."""
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals.get("__name__", "").startswith(_OWN):
            frame = frame.f_back
        key = frame.f_code.co_filename, frame.f_lineno
        return self._numbers.setdefault(key, len(self._numbers))

    def place(self, number: int) -> Place:
        """The line with that number."""
        for index, (file, line) in enumerate(self._numbers):
            if index == number:
                return Place(_cell(file) or file, line)
        return Place("")


def _cell(file: str) -> str:
    """What IPython calls the cell of a notebook that it compiles as that file; '' if it is none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    name = name_of(file) if name_of else None  # as ("Cell", "In[3]")
    return " ".join(name) if name else ""
