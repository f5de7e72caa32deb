"""`condor_pydagman knobs`: which configuration knobs are in force, and where they were set."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import json
import os
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.config import FORMER, Knob, effective_limit, knobs, read_one
from condor_pydagman.config.knob import Value
from condor_pydagman.errors import ConfigError, DagFileError, PydagmanError
from condor_pydagman.named_tuple import NamedTuple


class Row(NamedTuple):
    """A knob as it is in force."""

    knob: Knob
    value: Value
    layer: str  # `default`, `configuration`, `environment` or `CONFIG file`
    detail: str = ""  # file and line, or the variable; '' if not known
    notes: tuple[str, ...] = ()  # what else is to be said of the value
    error: str = ""  # what is wrong with it, '' if nothing is
    # a CONFIG file sets another value, which is not in force because of this one
    is_limit: bool = False


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers,
        "knobs",
        "show the configuration knobs in force, and where they were set",
        "Show the configuration knobs that are set: the value in force, where it comes"
        " from, its meaning and range. With DAGFILE, show the knobs of that DAG, with its CONFIG"
        " file, if that belongs to you. With PATTERN, show all knobs whose names match, set or not."
        " Exit code: 0; 1 if a value is wrong, a file can't be read or nothing matches;"
        " 2 if the command line is wrong.",
        run,
    )
    parser.add_argument("--dag", "-dag", metavar="DAGFILE", help="the same as DAGFILE")
    parser.add_argument(
        "--config", "-config", metavar="FILE", help="show the knobs of a DAG with this CONFIG file"
    )
    parser.add_argument(
        "--all", "-all", action="store_true", help="also show the knobs that are not set"
    )
    parser.add_argument("--json", "-json", action="store_true", help="print JSON")
    parser.add_argument(
        "words",
        metavar="DAGFILE|PATTERN",
        nargs="*",
        help="a DAG file; part of a knob's name, or a name with * and ?",
    )


class _Request(NamedTuple):
    dag_files: list[str]
    pattern: str


def _request(arguments: argparse.Namespace) -> _Request:
    """Which of the operands are DAG files; the one that is none is a pattern."""
    dags: list[str] = [arguments.dag] if arguments.dag else []
    patterns: list[str] = []
    for word in arguments.words:
        is_knob = any(_matches(knob.name, word) for knob in knobs())
        is_file = word.lower().endswith(".dag") or "/" in word or os.path.exists(word)
        (dags if is_file and not is_knob else patterns).append(word)
    if len(patterns) > 1:
        arguments.parser.error(f"one pattern only, not {' and '.join(patterns)}")
    if dags and arguments.config:
        arguments.parser.error(f"-config is not allowed with a DAG file ({dags[0]})")
    return _Request(dags, "".join(patterns))


def run(arguments: argparse.Namespace) -> int:
    """Print the table; returns the exit code.

    Raises:
        PydagmanError: a file can't be read.
    """
    dag_files, pattern = _request(arguments)
    chosen = [knob for knob in knobs() if _matches(knob.name, pattern)]
    unknown = _misspelled(pattern) if pattern and not chosen else ""
    if unknown:
        raise PydagmanError(unknown)
    rows = in_force(chosen, _config_file(dag_files, arguments.config))
    if not arguments.all and not pattern:
        # A default that limits what a CONFIG file sets says why that value is not in force.
        rows = [row for row in rows if row.layer != "default" or row.is_limit]
    if arguments.json:
        print(json.dumps([_as_json(row) for row in rows], indent=4))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        say(*table(rows, max(width, 60)))
    say(*(row.error for row in rows if row.error), *unknown_knobs(), error=True)
    return int(any(row.error for row in rows))


def in_force(chosen: Sequence[Knob], config_file: str = "") -> list[Row]:
    """The knobs as a DAGMan with this CONFIG file ('' for none) finds them.

    Raises:
        ConfigError: the CONFIG file can't be read.
    """
    from condor_pydagman.adapters import knobs as adapter

    adapter.set_subsystem("DAGMAN")
    name = "DAGMAN_DISABLE_ADMIN_THROTTLE_LIMITING"
    free = read_one(next(knob for knob in knobs() if knob.name == name), adapter.evaluated)[0]
    before = {knob.name: _row(knob) for knob in chosen}
    if not config_file:
        return list(before.values())
    adapter.apply_config_file(config_file, own=True)
    return [_capped(_row(knob), before[knob.name], bool(free)) for knob in chosen]


def _row(knob: Knob) -> Row:
    from condor_pydagman.adapters import knobs as adapter

    places = adapter.knob_sources()
    notes = [f"No effect: {knob.no_effect}."] if knob.no_effect else []
    try:
        value, remark = read_one(knob, adapter.evaluated, places.name, places.is_set)
    except ConfigError as error:
        place = places.of(knob.name, is_default=False)
        text = adapter.lookup(knob.name) or ""
        return Row(knob, text, *place, notes=tuple(notes), error=str(error))
    if remark:
        notes.append(remark)
    is_default = value == knob.default or (knob.name.endswith("_EXE") and bool(knob.no_effect))
    return Row(knob, value, *places.of(knob.name, is_default=is_default), notes=tuple(notes))


def _capped(row: Row, administrators: Row, free: bool) -> Row:
    """The row with the administrator's value instead, where that is the limit."""
    user, limit = row.value, administrators.value
    if free or not isinstance(user, int) or not isinstance(limit, int):
        return row
    if row.knob.caps:
        value = effective_limit(user, limit)
    elif row.knob.name == "DAGMAN_USER_LOG_SCAN_INTERVAL":
        value = max(user, limit)
    else:
        return row
    if value == user:
        return row
    note = f"{row.detail or row.layer} sets {user}; the administrator's {limit} is the limit."
    notes = (*administrators.notes, note)
    return administrators._replace(value=value, notes=notes, is_limit=True)


def table(rows: Sequence[Row], width: int) -> Iterator[str]:
    """The rows in columns, at most `width` wide where words allow it."""
    if not rows:
        yield "No knob of DAGMan is set; -all shows the defaults"
        return
    names = max(len(row.knob.name) for row in rows)
    values = max(5, min(max(len(_shown(row)) for row in rows), 16))
    yield f"{'KNOB':{names}}  {'VALUE':{values}}  FROM"
    for row in rows:
        value = _shown(row)
        if len(value) <= values:
            yield f"{row.knob.name:{names}}  {value:{values}}  {_from(row)}"
        else:
            yield f"{row.knob.name:{names}}  {'(below)':{values}}  {_from(row)}"
            yield f"    = {value}"
        yield from textwrap.wrap(
            _words(row), width, initial_indent="    ", subsequent_indent="    "
        )


def _shown(row: Row) -> str:
    if isinstance(row.value, float):
        return f"{row.value:g}"
    return str(row.value).replace("\n", "\\n") or "(empty)"


def _from(row: Row) -> str:
    return f"{row.layer} ({row.detail})" if row.detail else row.layer


def _words(row: Row) -> str:
    knob = row.knob
    words = [knob.meaning]
    if knob.range() not in ("", "any"):
        words.append(f"Range: {knob.range()}{' ' * bool(knob.unit)}{knob.unit}.")
    elif knob.unit:
        words.append(f"In {knob.unit}.")
    if knob.stock is not None:
        words.append(f"Stock's default is {knob.stock}.")
    return " ".join([*words, *row.notes])


def _as_json(row: Row) -> dict[str, Any]:
    knob = row.knob
    return {
        "name": knob.name,
        "value": row.value,
        "default": knob.default,
        "from": row.layer,
        "where": row.detail,
        "type": knob.kind.value,
        "range": knob.range(),
        "unit": knob.unit,
        "meaning": knob.meaning,
        "programs": list(knob.programs),
        "administrator_limit": knob.caps,
        "stock_default": knob.default if knob.stock is None else knob.stock,
        "no_effect": knob.no_effect,
        "notes": list(row.notes),
        "error": row.error,
    }


def unknown_knobs() -> list[str]:
    """A line for each knob that is set and looks like one of DAGMan's, but is none."""
    import htcondor2

    from condor_pydagman.adapters.bindings import OWN_MACRO
    from condor_pydagman.adapters.knobs import knob_sources

    known = {knob.name for knob in knobs()}
    known |= {name for name in FORMER if not knob_sources().is_set(name)}
    names = sorted(
        name
        for name in list(htcondor2.param)
        if name.upper().startswith(("DAGMAN_", "PYDAGMAN_")) and name.upper() not in known
    )
    return [_misspelled(name) for name in names if name.upper() != OWN_MACRO]


def _misspelled(name: str) -> str:
    close = difflib.get_close_matches(name.upper(), [knob.name for knob in knobs()], 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"DAGMan has no knob {name}{hint}"


def _matches(name: str, pattern: str | None) -> bool:
    if not pattern:
        return True
    wanted = pattern.upper()
    return wanted in name or fnmatch.fnmatchcase(name, wanted)


def _config_file(dag_files: Sequence[str], config: str | None) -> str:
    if not dag_files:
        return os.path.abspath(config) if config else ""
    from condor_pydagman.dagman_job.manager_commands import read_dag_files
    from condor_pydagman.dagman_job.options import parse_submit

    try:
        return str(read_dag_files(parse_submit(dag_files)).config_file or "")
    except DagFileError as error:
        raise PydagmanError(error.detail()) from None
