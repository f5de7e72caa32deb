"""Reads the configuration through the bindings' `param`, with a DAG's CONFIG file laid over it.

Order (stock's): pool configuration, `_CONDOR_` environment, CONFIG file; later wins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import classad2
import htcondor2

from condor_pydagman import config
from condor_pydagman.adapters.knob_places import Places
from condor_pydagman.config import Knob

_ASKED = "PYDAGMAN_ASKED"  # a macro of ours, in this process only
_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "1"), True)
_TRUTH.update(dict.fromkeys(("false", "f", "no", "n", "0"), False))
OWN_MACROS = frozenset((_ASKED,))
_covered: dict[str, str | None] = {}  # what CONFIG files were laid over, by knob
_files: list[str] = []  # the CONFIG files, the last one in force


def load(config_file: str = "") -> config.Config:
    """Read all knobs; `config_file` is the DAG's CONFIG file, '' for none.

    Raises:
        ConfigError: the CONFIG file can't be read, or a value is wrong.
    """
    if config_file:
        lay_over(config_file)
    where = places()
    return config.read(evaluated, where.name, where.is_set)


def be(subsystem: str) -> None:
    """Read the configuration as this program of HTCondor's: what is set for it alone, as
    `DAGMAN.NAME = value`, counts.  The bindings read it as TOOL, which condor_submit_dag is."""
    htcondor2.set_subsystem(subsystem)
    htcondor2.reload_config()


def places() -> Places:
    """Where the knobs are set, as things stand now."""
    return Places(_files[-1] if _files else "", frozenset(_covered), lookup)


def lookup(name: str) -> str | None:
    """The text of one configuration value, macros expanded; None if there is none."""
    if htcondor2.param.get(name) is None:
        return None
    htcondor2.param[_ASKED] = f"$({name})"
    return str(htcondor2.param.get(_ASKED) or "")


def truth(name: str) -> bool | None:
    """A switch of HTCondor's that is none of our knobs; None if it is not set, or no plain word."""
    return _TRUTH.get((lookup(name) or "").strip().lower())


def evaluated(knob: Knob) -> str | None:
    """The text of a knob, an expression that stands for a number replaced by that."""
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


def lay_over(config_file: str) -> None:
    """Put what a CONFIG file sets over this process's configuration.

    Raises:
        ConfigError: it can't be read, or there is a mistake in it.
    """
    from condor_pydagman.adapters import config_file as dags_own  # few DAGs have one

    for name, value in dags_own.settings(config_file).items():
        _covered.setdefault(name.upper(), lookup(name))
        htcondor2.param[name] = value
    _files.append(config_file)


@contextlib.contextmanager
def uncovered() -> Iterator[None]:
    """Within, no CONFIG file lies over the configuration: it is as a new program finds it.

    What is laid over it within is gone at the end, when the former CONFIG file holds again.
    """
    covered, files = dict(_covered), list(_files)
    ours = {name: lookup(name) for name in covered}
    _set_all(covered)
    _covered.clear()
    _files.clear()
    try:
        yield
    finally:
        _set_all(_covered)
        _set_all(ours)
        _covered.clear()
        _covered.update(covered)
        _files[:] = files


def _set_all(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            with contextlib.suppress(KeyError):
                del htcondor2.param[name]
        else:
            htcondor2.param[name] = value
