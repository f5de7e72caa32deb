"""The JSON schemas that are shipped, and what commands print in fact."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from condor_pydagman.cli import dag_checker, pydagman
from condor_pydagman.cli.schema_command import SCHEMAS, schema_text
from condor_pydagman.follow.dag_events import NAMES, DagEvent
from condor_pydagman.monitor import schedd_queries
from tests import pages
from tests.dag_logs import DagLogs
from tests.old_runs.runs import all_runs, lay_out
from tests.schemas import check
from tools import schemas

BAD = 'JOB A a.sub\nJOB A a.sub\nVARS B x="1"\nPARENT A CHILD C\n'
GOOD = "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nFINAL F a.sub\n"


@pytest.mark.parametrize("name", SCHEMAS)
def test_they_are_schemas(name: str) -> None:
    schema = json.loads(schema_text(name))
    Draft202012Validator.check_schema(schema)
    assert re.fullmatch(rf"urn:condor_pydagman:{name}:[0-9]+", schema["$id"])
    assert schema["title"].lower() == SCHEMAS[name].lower()


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert pydagman.main(["schema", "events"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["v"] == {"const": 1}
    assert pydagman.main(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(SCHEMAS)
    with pytest.raises(SystemExit):
        pydagman.main(["schema", "event"])
    assert "events" in capsys.readouterr().err


def test_a_document_of_another_version_is_noticed() -> None:
    known = json.loads(DagEvent("dag.start", 1.0, dag="t.dag").to_json())
    check("events", known)
    for name, document in (("events", known), ("watch", {}), ("ls", {}), ("lint", {})):
        version = "Version" if name == "lint" else "v"
        validator = Draft202012Validator(json.loads(schema_text(name)))
        errors = validator.iter_errors({**document, version: 2})
        assert any(error.validator == "const" for error in errors), name


def test_fields_may_be_added_within_a_version() -> None:
    known = json.loads(DagEvent("dag.start", 1.0, dag="t.dag").to_json())
    Draft202012Validator(json.loads(schema_text("events"))).validate({**known, "new": 1})
    with pytest.raises(ValidationError):  # but no test prints one that is not named
        check("events", {**known, "new": 1})


def test_every_event_has_its_fields() -> None:
    assert sorted(schemas.OF_EVENTS) == sorted(NAMES)


def test_the_page_names_the_fields_of_each_event() -> None:
    page = (pages.DOCS / "watching.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and line.count("|") == 4]
    named = {
        event: row
        for row in rows
        for event in re.findall(r"`([a-z]+\.[a-z_]+)`", row.split("|")[1])
    }
    for event, (_, fields, _) in schemas.OF_EVENTS.items():
        absent = [field for field in fields if f"`{field}`" not in named[event]]
        assert not absent, f"docs/watching.md does not name {absent} of {event}"


@pytest.mark.parametrize("kept", all_runs(), ids=lambda kept: f"{kept.parent.name}/{kept.name}")
def test_runs_that_were_kept(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(kept, tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, *words in (("events",), ("watch", "--once", "--json"), ("nodes", "--json")):
        pydagman.main([name, "t.dag", *words])
        printed = capsys.readouterr().out.splitlines()
        assert printed
        for line in printed:
            check(name, json.loads(line))


@pytest.fixture
def dags(work_directory: Path) -> Iterator[Path]:
    (work_directory / "good.dag").write_text(GOOD)
    (work_directory / "bad.dag").write_text(BAD)
    (work_directory / "cycle.dag").write_text(f"{GOOD}PARENT B CHILD A\n")
    yield work_directory


@pytest.mark.usefixtures("dags")
def test_the_checker(capsys: pytest.CaptureFixture[str]) -> None:
    files = ("good.dag", "bad.dag", "cycle.dag")
    dag_checker.main(["-json", *files])
    found = json.loads(capsys.readouterr().out)
    assert len(found) == len(files)
    check("checker", found)
    for file in files:
        dag_checker.main(["-lint", "-json", file])
        check("lint", json.loads(capsys.readouterr().out))


def test_a_row_of_ls(
    work_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (work_directory / "t.dag").write_text("JOB A a.sub\n")
    DagLogs(work_directory).start()
    monkeypatch.setattr(schedd_queries, "ads_in_queue", lambda *_: [])
    assert pydagman.main(["ls", "--json", "--ended", "0"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    check("ls", json.loads(line))
