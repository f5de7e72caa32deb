"""The process that looks up nodes with a CACHE command: answers, deaths, and what is too slow."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters import cache_process
from condor_pydagman.adapters.cache_file import read_records
from condor_pydagman.adapters.cache_lookup import Question
from condor_pydagman.adapters.cache_process import TIMEOUT_S, Answer, CacheProcess, Keep, LookUp
from condor_pydagman.records.cache_facts import CachedNode
from condor_pydagman.records.cache_store import Record
from tests.waiting import until

NODE = CachedNode("A", "", "n.sub", "queue\n", [("k", "v", False)])
QUESTION = Question(NODE, "p", "its parent X has run")


class Asker:
    """Asks, and waits for what comes."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.now = 1000.0
        self.hangs = path.with_name("hangs")  # a request that does makes this file
        self.process = CacheProcess(self.path, select.epoll(), lambda: self.now, pytest.fail)
        self.results: list[Any] = []

    def ask(self, request: LookUp | Keep) -> Answer:
        self.process.ask(request, self.results.append)
        until(self._answered, "an answer", pause_s=0)
        found: Answer = self.results.pop(0)
        return found

    def _answered(self) -> bool:
        self.process._epoll.poll(0.02)
        if self.hangs.exists():
            self.hangs.unlink()
            self.now += TIMEOUT_S
        for then, result in self.process.results():
            then(result)
        return bool(self.results)


@pytest.fixture
def asker(tmp_path: Path) -> Any:
    made = Asker(tmp_path / "x.dag.cache")
    yield made
    made.process.end()


def test_a_node_is_looked_up_kept_and_found(asker: Asker) -> None:
    first = asker.ask(LookUp([QUESTION, QUESTION._replace(node=NODE._replace(name="B"))]))
    assert [one[::2] for one in first.found] == [(False, "it has never been done")] * 2
    results = [name for _, name, _ in first.found]
    assert len(set(results)) == 2
    assert read_records(asker.path)["A"].outputs is None
    assert asker.ask(LookUp([QUESTION])).found[0][2] == "it did not end well when it last ran"
    (again,) = asker.ask(LookUp([QUESTION])).found
    assert asker.ask(Keep([(NODE, again[1]), (NODE, results[0])])) == Answer([], [])
    assert asker.ask(LookUp([QUESTION])).found == [(True, again[1], "")]
    assert asker.ask(Keep([(NODE, again[1])])) == Answer([], [])


def test_an_output_that_is_missing_is_told(asker: Asker) -> None:
    node = NODE._replace(outputs=["y"])
    (found,) = asker.ask(LookUp([QUESTION._replace(node=node)])).found
    (line,) = asker.ask(Keep([(node, found[1])])).problems
    assert line == "Warning: CACHE: node A will run again: its output y is not there"


def test_a_file_that_cannot_be_used_is_told(asker: Asker) -> None:
    os.mkdir(asker.path)
    answer = asker.ask(LookUp([QUESTION]))
    assert answer.found[0][2] == "it has never been done"
    assert answer.problems[0].startswith(f"Warning: {asker.path}: can't be read: ")


def test_what_takes_too_long_runs_and_the_store_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(question: Question, *rest: Any) -> Any:
        if question.parents:
            asker.hangs.touch()
            time.sleep(600)
        return real(question, *rest)

    real = cache_process.look_up
    monkeypatch.setattr(cache_process, "look_up", hang)
    asker = Asker(tmp_path / "x.dag.cache")
    (found,) = asker.ask(LookUp([QUESTION])).found
    assert found[::2] == (False, "to look at its files took too long")
    assert read_records(asker.path) == {"A": Record(found[1], {})}
    asker.process.end()


def test_a_process_that_dies_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_process, "look_up", lambda *_: os._exit(1))
    monkeypatch.setattr(cache_process, "outputs_of", lambda *_: os._exit(1))
    asker = Asker(tmp_path / "x.dag.cache")
    answer = asker.ask(LookUp([QUESTION]))
    assert answer.found[0][0] is False
    assert answer.problems == ["Warning: CACHE: the process that looked at its files has died"]
    asker.process.end()


def test_checksums_may_take_long(asker: Asker) -> None:
    slow = QUESTION._replace(node=NODE._replace(checksum=True))
    limit = asker.process._time_limit
    assert limit(LookUp([QUESTION])) == limit(Keep([(NODE, "r")])) == TIMEOUT_S
    assert limit(LookUp([slow])) == limit(Keep([(slow.node, "r")])) > 3600.0
    assert limit(LookUp([slow], "blind")) == TIMEOUT_S
