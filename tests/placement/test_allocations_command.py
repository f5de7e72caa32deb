"""`condor_pydagman allocations`, as a person types it."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
from condor_pydagman.data_requests.requests import Allocate, Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.allocations import Space
from condor_pydagman.placement.way import Progress, Surroundings


@pytest.fixture(autouse=True)
def settings(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Those of a machine where three allocations are made."""
    capacities = (("/disk", 1 << 30), ("host", 1 << 30))
    settings = Settings(directory=str(work_directory / "shared"), capacities=capacities)
    monkeypatch.setattr(
        "condor_pydagman.placement.allocations_command.configured_settings", lambda: settings
    )
    for host, identity, dag in (("/disk", "a", "t.dag"), ("host", "a", ""), ("host", "b", "")):
        request = Allocate(host, identity, 5 << 20, 7200.0)
        with space_of(settings, str(work_directory / dag) if dag else "") as space:
            space.allocate(request, around(settings), Progress(threading.Event()))
    return settings


def space_of(settings: Settings, dag: str) -> contextlib.closing[Space]:
    return contextlib.closing(Space(settings, print, dag))


def around(settings: Settings) -> Surroundings:
    return Surroundings(settings, {}, "/", print)


def allocations(*words: str) -> int:
    return pydagman.main(["allocations", *words])


def left(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    capsys.readouterr()
    assert allocations("list", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    return [(one["host"], one["allocation_id"]) for one in found]


def test_the_list(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert allocations("list") == 0
    head, first, second, _ = capsys.readouterr().out.splitlines()
    assert head.split() == ["ID", "WHERE", "SIZE", "USED", "AGE", "ENDS", "IN", "DAG"]
    assert first.startswith("a   /disk  5.0 MB")
    assert first.endswith(f" {tmp_path}/t.dag")
    assert second.endswith(" by hand")
    assert allocations("list", "--json") == 0
    fields = json.loads(capsys.readouterr().out)[0]
    assert fields["dags"] == [f"{tmp_path}/t.dag"]
    assert (fields["size"], fields["used"]) == (5 << 20, 0)
    assert fields["ends"] == pytest.approx(fields["made"] + 7200)


def test_release(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        allocations("release")
    assert allocations("release", "c") == 1
    assert allocations("release", "a") == 1
    said = capsys.readouterr().err
    for words in ("name the allocations", "no allocation c", "several a: /disk, host"):
        assert words in said
    assert allocations("release", "a", "--host", "host") == 0
    assert left(capsys) == [("/disk", "a"), ("host", "b")]
    assert allocations("release", "--dag", "t.dag") == 0
    assert left(capsys) == [("host", "b")]
    assert allocations("release", "--all") == 0
    assert left(capsys) == []
    assert allocations("list") == 0
    assert "you have no allocations" in capsys.readouterr().out


def test_release_at_a_host(capsys: pytest.CaptureFixture[str]) -> None:
    assert allocations("release", "--host", "host") == 0
    assert left(capsys) == [("/disk", "a")]


def test_what_is_released_of_a_dag_is_allocated_again_by_all_that_have_it(
    settings: Settings, tmp_path: Path
) -> None:
    """Two DAGs have made it; what is released by its name is not needed any more."""
    names = str(tmp_path / "t.dag"), str(tmp_path / "u.dag")
    progress = Progress(threading.Event())
    with space_of(settings, names[1]) as space:
        space.allocate(Allocate("/disk", "a", 5 << 20, 7200.0), around(settings), progress)
    transfer = Transfer(parse_url("/a"), parse_url("/disk/a"), allocation_id="a")
    assert allocations("release", "--dag", "t.dag") == 0
    for name in names:
        with space_of(settings, name) as space:
            (request,) = space.given_back(transfer)
            assert (request.host, request.size) == ("/disk", 5 << 20)
            space.allocate(request, around(settings), progress)
    assert allocations("release", "a", "--host", "/disk") == 0
    for name in names:
        with space_of(settings, name) as space:
            assert space.given_back(transfer) == []
