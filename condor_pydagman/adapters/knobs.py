"""Reads the configuration by the bindings' `param`, overridden by a DAG's CONFIG file.

Order (stock's): pool configuration, `_CONDOR_` environment, CONFIG file; later wins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import classad2
import htcondor2

from condor_pydagman import config
from condor_pydagman.adapters.knob_places import Places
from condor_pydagman.adapters.macros import expanded
from condor_pydagman.config import Knob

_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "1"), True)
_TRUTH.update(dict.fromkeys(("false", "f", "no", "n", "0"), False))
_overridden: dict[str, str | None] = {}  # values before CONFIG files set others, by knob
_files: list[str] = []  # the CONFIG files, the last one in force


def load(config_file: str = "") -> config.Config:
    """Read all knobs; `config_file` is the DAG's CONFIG file, '' for none.

    Raises:
        ConfigError: the CONFIG file can't be read, or a value is wrong.
    """
    if config_file:
        apply_config_file(config_file)
    where = places()
    return config.read(evaluated, where.name, where.is_set)


def set_subsystem(subsystem: str) -> None:
    """Read the configuration as this subsystem of HTCondor, with values that are set only for it,
    as `DAGMAN.NAME = value`.  The default of the bindings is TOOL, as of condor_submit_dag."""
    htcondor2.set_subsystem(subsystem)
    htcondor2.reload_config()


def places() -> Places:
    """Where the knobs are set at present."""
    return Places(_files[-1] if _files else "", frozenset(_overridden), lookup)


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


def apply_config_file(config_file: str) -> None:
    """Override this process's configuration by what a CONFIG file sets.

    Raises:
        ConfigError: it can't be read, or has an error.
    """
    from condor_pydagman.adapters import config_file as of_dag  # late: few DAGs have one

    for name, value in of_dag.settings(config_file).items():
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
