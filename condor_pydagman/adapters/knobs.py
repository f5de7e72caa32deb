"""Reads the configuration through the bindings' `param`, with a DAG's CONFIG file laid over it.

Order (stock's): pool configuration, `_CONDOR_` environment, CONFIG file; later wins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import classad2
import htcondor2

from condor_pydagman import config
from condor_pydagman.adapters.files import read_text
from condor_pydagman.errors import ConfigError, FileError

_ASKED = "PYDAGMAN_ASKED"  # a macro of ours, in this process only
_covered: dict[str, str | None] = {}  # what CONFIG files were laid over, by knob


def load(config_file: str = "") -> config.Config:
    """Read all knobs; `config_file` is the DAG's CONFIG file, '' for none.

    Raises:
        ConfigError: the CONFIG file can't be read, or a value is wrong.
    """
    if config_file:
        lay_over(config_file)
    return config.read(lookup)


def lookup(name: str) -> str | None:
    """The text of one configuration value, None if it is not set.

    For a number or boolean the bindings evaluate the text, and give HTCondor's default where that
    fails; then the text itself is returned, so that whoever reads it can complain.
    """
    value: Any = htcondor2.param.get(name)
    if isinstance(value, (bool, int, float)):
        text = _text(name)
        if not _is_number(text):
            return text
    return None if value is None else str(value)


def _text(name: str) -> str:
    """A value with its macros expanded, but not evaluated: what a macro of no known type gives."""
    htcondor2.param[_ASKED] = f"$({name})"
    return str(htcondor2.param.get(_ASKED) or "")


def _is_number(text: str) -> bool:
    if not text:
        return True  # set to nothing: the default is meant
    try:
        return type(classad2.ExprTree(text).eval()) in (bool, int, float)  # Undefined is an int
    except classad2.ClassAdException:
        return False


def lay_over(config_file: str) -> None:
    """Set every `NAME = value` of a CONFIG file in this process's configuration."""
    try:
        text = read_text(config_file)
    except (OSError, FileError) as error:
        raise ConfigError(
            f"ERROR: Can't read DAGMan config file: {config_file} ({error})"
        ) from None
    for number, line in _logical_lines(text):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise ConfigError(
                f"{config_file}:{number}: expected NAME = value, found: {line.strip()}"
            )
        name = name.strip()
        _covered.setdefault(name.upper(), lookup(name))
        htcondor2.param[name] = value.strip()


@contextlib.contextmanager
def uncovered() -> Iterator[None]:
    """Within, no CONFIG file lies over the configuration: it is as a new program finds it.

    What is laid over it within is gone at the end, when the former CONFIG file holds again.
    """
    covered = dict(_covered)
    ours = {name: lookup(name) for name in covered}
    _set_all(covered)
    _covered.clear()
    try:
        yield
    finally:
        _set_all(_covered)
        _set_all(ours)
        _covered.clear()
        _covered.update(covered)


def _set_all(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            with contextlib.suppress(KeyError):
                del htcondor2.param[name]
        else:
            htcondor2.param[name] = value


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with `\\` continuations joined, without comments and blank lines."""
    lines: list[tuple[int, str]] = []
    begun = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("#") or (not line and not begun):
            continue
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        lines.append((number, begun + line))
        begun = ""
    return [(number, line) for number, line in lines if line.strip()]
