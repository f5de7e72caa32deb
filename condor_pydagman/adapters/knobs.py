"""Reads the configuration by the bindings' `param`, overridden by a DAG's CONFIG file.

Order (stock's): pool configuration, `_CONDOR_` environment, CONFIG file; later wins.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import classad2
import htcondor2

from condor_pydagman import config
from condor_pydagman.adapters.bindings import expanded
from condor_pydagman.adapters.files import read_text
from condor_pydagman.config import Knob
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple

# Where a knob was set, for messages and for `condor_pydagman knobs`.
#
# The bindings do not tell, so the files that HTCondor reads are searched for a line that sets the
# knob.  If it is set in another way, for example by `use`, only the line is unknown.

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


class KnobSource(NamedTuple):
    """Where a knob was set."""

    layer: str  # one of the four words above
    detail: str = ""  # file and line, or the name of a variable; '' if not known

    def words(self) -> str:
        """The text after "set in"."""
        if self.layer == ENVIRONMENT:
            return f"the environment, as {self.detail}"
        return self.detail or f"the {self.layer}"


class KnobSources:
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
        return (place if place.layer != DEFAULT else KnobSource(CONFIGURATION)).words()

    def is_set(self, knob: str) -> bool:
        """Whether a knob is set, even if to its default, which HTCondor's own tools report as not
        set. A default that `use`, or a command's output, sets is not detected."""
        return self.of(knob).layer != DEFAULT

    def of(self, knob: str, *, is_default: bool = True) -> KnobSource:
        """Where a knob was set; `is_default` tells whether it has its default value.

        A setting for one program, as `DAGMAN.NAME = value`, overrides all others.
        """
        return (
            self._in_files(f"{self._program}.{knob}")
            or self._in_own_file(knob)
            or _in_environment(knob)
            or self._in_files(knob)
            or KnobSource(DEFAULT if is_default else CONFIGURATION)
        )

    def _in_own_file(self, knob: str) -> KnobSource | None:
        own = self.with_included(self._config_file) if self._config_file else ()
        found = self._first_in(CONFIG_FILE, own, knob)
        if found is None and knob.upper() in self._overridden:
            return KnobSource(CONFIG_FILE, self._config_file)
        return found

    def _in_files(self, name: str) -> KnobSource | None:
        if self._config_file:
            found = self._first_in(CONFIG_FILE, [self._config_file], name)
            if found is not None:
                return found
        if self._read is None:
            self._read = [each for file in self._files() for each in self.with_included(file)]
        return self._first_in(CONFIGURATION, reversed(self._read), name)

    def _first_in(self, layer: str, files: Iterable[str], name: str) -> KnobSource | None:
        """The last line that sets the knob of this name, in the first of the files that has one."""
        for file in files:
            if file not in self._lines:
                self._lines[file] = _assignments(file)
            line = self._lines[file].get(name.upper())
            if line:
                return KnobSource(layer, f"{file}, line {line}")
        return None

    def with_included(self, path: str, depth: int = 0) -> Iterator[str]:
        """A file, before it is looked into, and those that it includes by their full names, as far
        as they are there."""
        yield path
        lines = _lines(path) if depth < MAX_INCLUDE_DEPTH else ()
        for found in filter(None, map(_INCLUDE.match, lines)):
            inner = re.sub(r"\$\((\w+)\)", lambda name: self._lookup(name[1]) or "", found[1])
            if os.path.isfile(inner):
                yield from self.with_included(inner, depth + 1)

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


def _in_environment(knob: str) -> KnobSource | None:
    for variable in os.environ:
        if variable.upper() == f"_CONDOR_{knob.upper()}":
            return KnobSource(ENVIRONMENT, variable)
    return None


def _assignments(path: str) -> dict[str, int]:
    """Numbers of the last lines that set something, by its name in capitals."""
    found = ((_ASSIGNMENT.match(line), n) for n, line in enumerate(_lines(path), 1))
    return {match[1].upper(): n for match, n in found if match}


def _lines(path: str) -> list[str]:
    try:
        return read_text(path).split("\n")
    except (OSError, FileError):
        return []


def _words(text: str | None) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text or "") if word]


_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "1"), True)
_TRUTH.update(dict.fromkeys(("false", "f", "no", "n", "0"), False))
_overridden: dict[str, str | None] = {}  # values before CONFIG files set others, by knob
_files: list[str] = []  # the CONFIG files, the last one in force


def load(config_file: str = "", program: str = "") -> config.Config:
    """Read all knobs, or those of one program; `config_file` is the DAG's CONFIG file, '' for none.

    Raises:
        ConfigError: the CONFIG file can't be read, or a value is wrong.
    """
    if config_file:
        apply_config_file(config_file)
    where = knob_sources()
    return config.read(evaluated, where.name, where.is_set, program)


def set_subsystem(subsystem: str) -> None:
    """Read the configuration as this subsystem of HTCondor, with values that are set only for it,
    as `DAGMAN.NAME = value`.  The default of the bindings is TOOL, as of condor_submit_dag."""
    htcondor2.set_subsystem(subsystem)
    htcondor2.reload_config()


def knob_sources() -> KnobSources:
    """Where the knobs are set at present."""
    return KnobSources(_files[-1] if _files else "", frozenset(_overridden), lookup)


def lookup(name: str) -> str | None:
    """The text of one configuration value, macros expanded; None if there is none."""
    # Not by its own name: bindings before 25.1 end the process at a value of the wrong type.
    text = expanded(name)
    return None if text is None else str(text)


def truth(name: str) -> bool | None:
    """A boolean macro of HTCondor that is not in the table of knobs; None if it is not set, or is
    an expression."""
    return _TRUTH.get((lookup(name) or "").strip().lower())


def evaluated(knob: Knob) -> str | None:
    """The text of a knob; an expression with a number or boolean as value is replaced by the
    value."""
    text = lookup(knob.name)
    if text is None or not knob.kind.evaluated:
        return text
    text = text.strip()
    if not text:
        return ""
    try:
        value = classad2.ExprTree(text).eval()
    except classad2.ClassAdException:
        return text
    # Undefined and Error are integers to Python.
    return str(value) if type(value) in (bool, int, float) else text


def apply_config_file(config_file: str, *, own: bool = False) -> None:
    """Override this process's configuration by what a CONFIG file sets.

    Args:
        own: whether it must be a file of the caller's, with all files that it includes.

    Raises:
        ConfigError: it can't be read, or has an error.
    """
    from condor_pydagman.adapters import config_file as of_dag  # late: few DAGs have one

    if own:
        for file in KnobSources("", frozenset(), lookup).with_included(config_file):
            of_dag.refuse_foreign(file)
    for name, value in of_dag.settings(config_file, own=own).items():
        _overridden.setdefault(name.upper(), lookup(name))
        htcondor2.param[name] = value
    _files.append(config_file)


@contextlib.contextmanager
def without_config_file() -> Iterator[None]:
    """Undo the effect of CONFIG files in a `with` block: the configuration is that of a new
    process.

    At the end, CONFIG files that were applied in the block are undone, and the earlier ones are
    applied again.
    """
    overridden, files = dict(_overridden), list(_files)
    ours = {name: lookup(name) for name in overridden}
    _set_all(overridden)
    _overridden.clear()
    _files.clear()
    try:
        yield
    finally:
        _set_all(_overridden)
        _set_all(ours)
        _overridden.clear()
        _overridden.update(overridden)
        _files[:] = files


def _set_all(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            with contextlib.suppress(KeyError):
                del htcondor2.param[name]
        else:
            htcondor2.param[name] = value
