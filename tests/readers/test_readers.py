"""Plays golden files: what readers say of each world must be what stands there.

With WRITE_GOLDENS=1 in the environment it is written there instead, to be reviewed as a diff.
"""

from __future__ import annotations

import calendar
import difflib
import io
import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters import local_time
from condor_pydagman.cli import dag_checker, pydagman
from condor_pydagman.explain import jobs
from condor_pydagman.features.bundle.adapters import slots
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.web.dag_answers import details_of
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.node_rows import NodeRows
from condor_pydagman.web.tables import Wanted
from tests.readers.world import World
from tests.schemas import check

GOLDENS = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.golden"))}
INDENT = "    "
PROGRAMS = {"condor_pydagman": pydagman.main, "condor_dag_checker": dag_checker.main}
READER = re.compile(
    r"\$ (condor_pydagman|condor_dag_checker) (.*?)(?: \| text of (.+))?|GET (\w+)(?: (.+))?"
)
MOST = 150  # characters of JSON in a line


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = GOLDENS[name].read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as here:  # of one in /tmp the checker warns
        monkeypatch.chdir(here)
        found = play(expected, monkeypatch).replace(here, "HERE")
    if os.environ.get("WRITE_GOLDENS"):
        GOLDENS[name].write_text(found, encoding="utf-8")
    elif found != expected:
        lines = expected.splitlines(), found.splitlines()
        changes = difflib.unified_diff(*lines, f"{name}.golden", "now", lineterm="")
        pytest.fail("\n".join(changes), pytrace=False)


def play(golden: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The text of a golden file, with what readers say now, in the working directory."""
    lines = golden.splitlines()
    head = [*takewhile(lambda line: not line.startswith(INDENT), lines)]
    dag = [*takewhile(lambda line: line.startswith(INDENT), lines[len(head) :])]
    told = [*head, *dag, ""]
    with monkeypatch.context() as patch:
        world = _world("\n".join(map(str.strip, dag)), patch)
        try:
            for step in lines[len(told) :]:
                if step and not step.startswith(INDENT):
                    told += _played(world, step)
            _check_list(world)
        finally:
            world.unlock()
            _forget_minutes()
    return "\n".join(told).rstrip("\n") + "\n"


def _world(dag: str, patch: pytest.MonkeyPatch) -> World:
    """A world at whose clock and pool readers look, in Greenwich."""
    patch.setenv("COLUMNS", "100")
    patch.setenv("CONDOR_CONFIG", os.devnull)
    world = World(dag)
    patch.setattr(time, "time", lambda: world.now)
    patch.setattr(time, "mktime", calendar.timegm)
    patch.setattr(time, "localtime", lambda at=None: time.gmtime(world.now if at is None else at))
    _forget_minutes()
    patch.setattr(schedd_queries, "_asked", world.pool.asked)
    patch.setattr(slots, "known_slots", lambda: len(world.pool.slots))
    patch.setattr(jobs, "ask", lambda _, __, *given, shape: jobs.counts_of(*given))
    return world


def _forget_minutes() -> None:
    """Those of another time zone."""
    local_time.minute.cache_clear()
    local_time.existing_minute.cache_clear()


def _played(world: World, step: str) -> Iterator[str]:
    """The lines of a step, with what a reader says."""
    reader = READER.fullmatch(step)
    if reader is None:
        yield step
        if not step.startswith("#"):
            for what in step.split("; "):
                world.happen(what)
        return
    yield step
    program, words, parts, page, node = reader.groups()
    said = list(_of_page(world, page, node) if page else _of_command(program, words, parts))
    yield from (f"{INDENT}{line}".rstrip() for line in said)
    yield ""


def _of_command(program: str, words: str, parts: str | None) -> Iterator[str]:
    """What a command prints, and its exit code if that is not 0.

    Args:
        parts: titles of those of a page of HTML that are wanted; the first is its `head`; or
            `findings`, for those of the checker without the lines of the DAG and hints.
    """
    text, code = _printed(program, words)
    if words.startswith("explain ") and code in (0, 1) and not text.startswith(program):
        check("explain", json.loads(_printed(program, f"{words} --json")[0]))
    if parts == "findings":
        yield from (line for line in text.splitlines() if not line.startswith(" "))
    else:
        yield from PlainText(text).lines(parts) if parts else text.splitlines()
    if code:
        yield f"[{code}]"


def _printed(program: str, words: str) -> tuple[str, int]:
    """What a command prints, and its exit code."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        patch.setattr(sys, "stderr", output)
        code = PROGRAMS[program](shlex.split(words))
    output.flush()
    return output.buffer.getvalue().decode("utf-8", "backslashreplace"), code


def _check_list(world: World) -> None:
    """The list of nodes meets its schema, and says the same as the page."""
    text, code = _printed("condor_pydagman", "nodes t.dag --json")
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    for row in rows:
        check("nodes", row)
    assert code == int(not rows)
    if "condor_pydagman: " not in text:  # then it takes the DAG file as the page does
        reader = DagReader(find_dag("t.dag", ask=False), lambda _: world.pool.dagman)
        reader.look()
        page = NodeRows(reader).page(Wanted(limit=len(rows)))["rows"]
        shown = {row["name"]: (row["state"], row["reason"]) for row in page}
        assert {row["node"]: (row["state"], row["reason"] or "") for row in rows} == shown


def _of_page(world: World, what: str, node: str) -> Iterator[str]:
    """What the page gets, a line for each field; what is empty or 0 is left out."""
    reader = DagReader(find_dag("t.dag", ask=False), lambda _: world.pool.dagman)
    overview = reader.look().overview
    if what == "overview":
        found = overview
    elif what == "nodes":
        found = NodeRows(reader).page(Wanted())
    else:
        found = details_of(reader, reader.names.index(node), overview["state"])
    yield from _fields(found)


def _fields(found: dict[str, Any]) -> Iterator[str]:
    for name, value in _filled(found).items():
        line = f"{name}: {json.dumps(value)}"
        if isinstance(value, list) and len(line) > MOST:
            yield f"{name}:"
            yield from (f"- {json.dumps(one)}" for one in value)
        else:
            yield line


def _filled(value: Any) -> Any:
    """Without what is empty."""
    if isinstance(value, dict):
        filled = ((name, _filled(one)) for name, one in value.items())
        return {name: one for name, one in filled if one or one is False}
    return [_filled(one) for one in value] if isinstance(value, (list, tuple)) else value


class PlainText(HTMLParser):
    """The text of a page of HTML: a line for each paragraph and each row of a table; of its
    pictures the titles of what is drawn."""

    BREAKS = frozenset(("p", "h1", "h2", "h3", "tr", "li", "div", "pre", "summary", "title", "br"))
    DRAWN = ("style", "svg", "text")

    def __init__(self, page: str) -> None:
        super().__init__()
        self._text: list[str] = []
        self._open: list[str] = []
        self.feed(page)

    def lines(self, parts: str) -> Iterator[str]:
        """Those of parts with these titles."""
        wanted = "head" in parts
        for line in "".join(self._text).splitlines():
            words = re.sub(r"(\s*\|)+$", "", " ".join(line.split()))
            if words.startswith("# "):
                wanted = words[2:] in parts.split(", ")
            if words and wanted:
                yield words

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._open.append(tag)
        self._text.append("\n" if tag in self.BREAKS else " ")
        self._text += ["# "] if tag == "h2" else []

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass
        self._text.append(" | " if tag in ("td", "th") else "\n" if tag in self.BREAKS else " ")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in self.DRAWN:
            self._text.append(data)
