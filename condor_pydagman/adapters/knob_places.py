"""Where a knob was set, for messages and for `condor_pydagman knobs`.

The bindings do not tell, so the files that HTCondor reads are searched for a line that sets the
knob.  One that is set otherwise, by `use` say, is still known to be set, its line is not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

CONFIG_FILE, ENVIRONMENT, CONFIGURATION, DEFAULT = (
    "CONFIG file",
    "environment",
    "configuration",
    "default",
)
_ROOTS = ("~/.condor/condor_config", "/etc/condor/condor_config", "/usr/local/etc/condor_config")


class Place(NamedTuple):
    """Where a knob was set.

    Attributes:
        layer: one of the four words above.
        detail: file and line, or the name of a variable; '' if not known.
    """

    layer: str
    detail: str = ""

    def words(self) -> str:
        """For a sentence that begins with "set in"."""
        if self.layer == ENVIRONMENT:
            return f"the environment, as {self.detail}"
        return self.detail or f"the {self.layer}"


class Places:
    """Where the knobs of one reading of the configuration were set.

    Args:
        config_file: the DAG's CONFIG file, '' for none.
        covered: knobs that it set to something else, in capitals.
        lookup: gives a configuration value, for the names of further files.
    """

    def __init__(
        self, config_file: str, covered: frozenset[str], lookup: Callable[[str], str | None]
    ) -> None:
        self._config_file = config_file
        self._covered = covered
        self._lookup = lookup
        self._program = lookup("SUBSYSTEM") or "TOOL"

    def name(self, knob: str) -> str:
        """Where a knob that is known to be set was set, in words."""
        place = self.of(knob)
        return (place if place.layer != DEFAULT else Place(CONFIGURATION)).words()

    def of(self, knob: str, *, is_default: bool = True) -> Place:
        """Where a knob was set; `is_default` tells whether it has its default value.

        What is set for one program alone, as `DAGMAN.NAME = value`, goes before all else.
        """
        return (
            self._in_files(f"{self._program}.{knob}")
            or self._in_own_file(knob)
            or _in_environment(knob)
            or self._in_files(knob)
            or Place(DEFAULT if is_default else CONFIGURATION)
        )

    def _in_own_file(self, knob: str) -> Place | None:
        line = _line_in(self._config_file, knob) if self._config_file else 0
        if not line and knob.upper() not in self._covered:
            return None
        where = f"{self._config_file}, line {line}" if line else self._config_file
        return Place(CONFIG_FILE, where)

    def _in_files(self, name: str) -> Place | None:
        if "." in name and self._config_file:
            line = _line_in(self._config_file, name)
            if line:
                return Place(CONFIG_FILE, f"{self._config_file}, line {line}")
        for file in reversed(list(self._files())):
            line = _line_in(file, name)
            if line:
                return Place(CONFIGURATION, f"{file}, line {line}")
        return None

    def _files(self) -> Iterator[str]:
        """The files of the pool's configuration, in the order in which they are read."""
        roots = [os.environ["CONDOR_CONFIG"]] if "CONDOR_CONFIG" in os.environ else list(_ROOTS)
        found = [path for path in map(os.path.expanduser, roots) if os.path.isfile(path)]
        yield from found[:1]
        for directory in _words(self._lookup("LOCAL_CONFIG_DIR")):
            try:
                names = sorted(os.listdir(directory))
            except OSError:
                continue
            for name in names:
                path = os.path.join(directory, name)
                if os.path.isfile(path) and not re.search(r"^\.|^#|~$|\.(rpm|dpkg-)", name):
                    yield path
        yield from _words(self._lookup("LOCAL_CONFIG_FILE"))


def _in_environment(knob: str) -> Place | None:
    for variable in os.environ:
        if variable.upper() == f"_CONDOR_{knob.upper()}":
            return Place(ENVIRONMENT, variable)
    return None


def _line_in(path: str, name: str) -> int:
    """Number of the last line that sets the knob of this name; 0 if there is none."""
    assignment = re.compile(rf"\s*{re.escape(name)}\s*(?:=|:|@=)", re.IGNORECASE)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return max((n for n, line in enumerate(file, 1) if assignment.match(line)), default=0)
    except OSError:
        return 0


def _words(text: str | None) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text or "") if word]
