"""Where a knob was set, for messages and for `condor_pydagman knobs`.

The bindings do not tell, so the files that HTCondor reads are searched for a line that sets the
knob.  If it is set in another way, for example by `use`, only the line is unknown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from condor_pydagman.named_tuple import NamedTuple

CONFIG_FILE, ENVIRONMENT, CONFIGURATION, DEFAULT = (
    "CONFIG file",
    "environment",
    "configuration",
    "default",
)
_ROOTS = ("~/.condor/condor_config", "/etc/condor/condor_config", "/usr/local/etc/condor_config")


MAX_INCLUDE_DEPTH = 8  # of included files
_INCLUDE = re.compile(r"\s*include\s*(?:ifexist\s*)?:\s*([^\s|]+)\s*$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"\s*([\w.]+)\s*(?:=|:|@=)")


class Place(NamedTuple):
    """Where a knob was set.

    Attributes:
        layer: one of the four words above.
        detail: file and line, or the name of a variable; '' if not known.
    """

    layer: str
    detail: str = ""

    def words(self) -> str:
        """The text after "set in"."""
        if self.layer == ENVIRONMENT:
            return f"the environment, as {self.detail}"
        return self.detail or f"the {self.layer}"


class Places:
    """Where the knobs of one reading of the configuration were set.

    Args:
        config_file: the DAG's CONFIG file, '' for none.
        overridden: knobs that it set to something else, in capitals.
        lookup: gives a configuration value, for the names of further files.
    """

    def __init__(
        self, config_file: str, overridden: frozenset[str], lookup: Callable[[str], str | None]
    ) -> None:
        self._config_file = config_file
        self._overridden = overridden
        self._lookup = lookup
        self._program = lookup("SUBSYSTEM") or "TOOL"
        self._lines: dict[str, dict[str, int]] = {}
        self._read: list[str] | None = None

    def name(self, knob: str) -> str:
        """The text that says where a knob was set; it must be set."""
        place = self.of(knob)
        return (place if place.layer != DEFAULT else Place(CONFIGURATION)).words()

    def is_set(self, knob: str) -> bool:
        """Whether a knob is set, even if to its default, which HTCondor's own tools report as not
        set. A default that `use`, or a command's output, sets is not detected."""
        return self.of(knob).layer != DEFAULT

    def of(self, knob: str, *, is_default: bool = True) -> Place:
        """Where a knob was set; `is_default` tells whether it has its default value.

        A setting for one program, as `DAGMAN.NAME = value`, overrides all others.
        """
        return (
            self._in_files(f"{self._program}.{knob}")
            or self._in_own_file(knob)
            or _in_environment(knob)
            or self._in_files(knob)
            or Place(DEFAULT if is_default else CONFIGURATION)
        )

    def _in_own_file(self, knob: str) -> Place | None:
        for file in self._with_included(self._config_file) if self._config_file else ():
            line = self._line_in(file, knob)
            if line:
                return Place(CONFIG_FILE, f"{file}, line {line}")
        return Place(CONFIG_FILE, self._config_file) if knob.upper() in self._overridden else None

    def _in_files(self, name: str) -> Place | None:
        if "." in name and self._config_file:
            line = self._line_in(self._config_file, name)
            if line:
                return Place(CONFIG_FILE, f"{self._config_file}, line {line}")
        if self._read is None:
            self._read = [each for file in self._files() for each in self._with_included(file)]
        for file in reversed(self._read):
            line = self._line_in(file, name)
            if line:
                return Place(CONFIGURATION, f"{file}, line {line}")
        return None

    def _line_in(self, path: str, name: str) -> int:
        """Number of the last line that sets the knob of this name; 0 if there is none."""
        if path not in self._lines:
            self._lines[path] = _assignments(path)
        return self._lines[path].get(name.upper(), 0)

    def _with_included(self, path: str, depth: int = 0) -> list[str]:
        """A file and those that it includes by their full names."""
        found = [path]
        for target in _included(path) if depth < MAX_INCLUDE_DEPTH else ():
            inner = re.sub(r"\$\((\w+)\)", lambda name: self._lookup(name[1]) or "", target)
            if os.path.isfile(inner):
                found += self._with_included(inner, depth + 1)
        return found

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


def _included(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return [match[1] for match in map(_INCLUDE.match, file) if match]
    except OSError:
        return []


def _assignments(path: str) -> dict[str, int]:
    """Numbers of the last lines that set something, by its name in capitals."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            found = ((_ASSIGNMENT.match(line), n) for n, line in enumerate(file, 1))
            return {match[1].upper(): n for match, n in found if match}
    except OSError:
        return {}


def _words(text: str | None) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text or "") if word]
