"""Our commands, shown directories of DAGs that stock has run: `tests/recordings/VERSION/left`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import pydagman
from tests import recordings


def recorded(module: str, name: str) -> Any:
    """What the same commands said when that DAG was recorded."""
    return recordings.load(f"pool/{module}.json")[name]


@pytest.fixture
def show(work_directory: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Brings a directory back; gives what runs a command there: exit code and output."""

    def bring(name: str) -> Any:
        for file, text in recordings.load(f"{recordings.LEFT}/{name}.json").items():
            path = work_directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = "".join(text).replace("HERE", str(work_directory))
            path.write_text(whole, errors="surrogateescape")

        def run(*words: str) -> tuple[int, str]:
            code = pydagman.main(list(words))
            return code, capsys.readouterr().out

        return run

    return bring


@pytest.mark.parametrize("name", ["ten_ways_to_fail", "an_exit_code_that_ends_the_dag"])
def test_the_causes_of_a_failure(show: Any, name: str) -> None:
    code, out = show(name)("explain", "--json", "t.dag")
    findings = json.loads(out)["findings"]
    found = [[one["cause"], one["weight"], sorted(one["nodes"])] for one in findings]
    expected = recorded("explain", name)
    if name == "ten_ways_to_fail":
        expected = expected[1]  # the first is of the DAG that ran
    assert [code, *sorted(found)] == expected


def test_states_by_events(show: Any) -> None:
    code, out = show("a_rich_dag")("events", "t.dag")
    told = [json.loads(line) for line in out.splitlines()]
    states = {one["node"]: one["status"] for one in told if one["event"] == "node.state"}
    assert code == 0
    assert states == recorded("watching", "a_rich_dag")["states"]
    assert [one["event"] for one in told].count("dag.start") == 2
    assert (told[-1]["event"], told[-1]["exit_code"]) == ("dag.end", 1)
    middle = told[len(told) // 2]
    _, rest = show("a_rich_dag")("events", "t.dag", "--since", middle["id"])
    assert [json.loads(line) for line in rest.splitlines()] == told[len(told) // 2 + 1 :]


def test_a_rescue_file_of_stock(show: Any) -> None:
    code, out = show("a_rich_dag")("rescue", "--json", "t.dag")
    said = json.loads(out)
    assert code == 0
    assert sorted(said["done"]) == recorded("watching", "a_rich_dag")["rescue"]
    code, out = show("a_rich_dag")("dry-run", "t.dag", "--json")
    planned = json.loads(out)
    assert (planned["done"], planned["jobs"]) == (9, 5)
