"""Starting the processes of NOTIFY."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.features.notify import starter
from condor_pydagman.features.notify.starter import Notifiers
from tests.unit.graph.texts import build_text

OF_DAG = build_text("NOTIFY dag.end PROGRAM ./x a b\n")


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(
        starter.detached_process,
        "start",
        lambda module, order, errors: found.append({**json.loads(order), "errors": os.dup(errors)}),
    )
    return found


def test_orders(orders: list[dict[str, Any]], tmp_path: Path) -> None:
    said: list[str] = []
    primary = str(tmp_path / "t.dag")
    for name in "xy":
        (tmp_path / name).touch(0o755)
    Notifiers(primary, OF_DAG, "* URL http://a/; ;dag.* PROGRAM y", said.append).start()
    fields = ("dag", "number", "kinds", "program", "url", "stands_by")
    assert [tuple(map(order.get, fields)) for order in orders] == [
        (primary, 1, "dag.end", ["./x", "a", "b"], "", False),
        (primary, 2, "*", [], "http://a/", False),
        (primary, 3, "dag.*", ["y"], "", False),
    ]
    assert not said


def test_one_that_has_ended_is_started_again(orders: list[dict[str, Any]], tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "x").touch(0o755)
    notifiers = Notifiers(str(tmp_path / "t.dag"), OF_DAG, "", said.append)
    notifiers.start()
    notifiers.check()
    assert len(orders) == 1
    os.write(orders[0]["errors"], b"Traceback ...\nKeyError: 'x\x1b[2J'\n")
    notifiers.check()
    assert len(orders) == 1  # it may go on
    os.close(orders[0]["errors"])
    notifiers.check()
    os.close(orders[1]["errors"])
    notifiers.check()
    about = "Warning: the process of NOTIFY 1 is gone"
    assert said == [
        f"{about}: KeyError: 'x\\x1b[2J'; starting another",
        f"{about}: it was probably killed; starting another",
    ]
    assert len(orders) == 3


def test_without_descriptors_dagman_goes_on(
    orders: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_pipe() -> tuple[int, int]:
        raise OSError(errno.EMFILE, "Too many open files")

    said: list[str] = []
    (tmp_path / "x").touch(0o755)
    notifiers = Notifiers(str(tmp_path / "t.dag"), OF_DAG, "", said.append)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pipe", no_pipe)
        notifiers.start()
    assert said == ["Warning: can't start the process of NOTIFY 1: Too many open files"]
    notifiers.check()
    assert len(orders) == 1


def test_at_the_end_another_stands_by(orders: list[dict[str, Any]], tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "x").touch(0o755)
    notifiers = Notifiers(str(tmp_path / "t.dag"), OF_DAG, "", said.append)
    notifiers.start()
    os.close(orders[0]["errors"])
    notifiers.end()
    assert [order["stands_by"] for order in orders] == [False, False, True]
    assert len(said) == 1


def test_a_program_that_is_not_there_is_said(orders: list[dict[str, Any]], tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "plain").touch(0o644)
    Notifiers(str(tmp_path / "t.dag"), OF_DAG, "* PROGRAM plain", said.append).start()
    assert said == [
        f"Warning: NOTIFY 1: {tmp_path}/x does not exist",
        f"Warning: NOTIFY 2: {tmp_path}/plain can't be executed",
    ]
    assert len(orders) == 2  # it may come


def test_what_goes_wrong_is_said(
    orders: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    (tmp_path / "x").touch(0o755)
    primary = str(tmp_path / "t.dag")
    Notifiers(primary, OF_DAG, "dag.ends PROGRAM x", said.append).start()
    (warning,) = said
    assert warning.startswith("Warning: PYDAGMAN_NOTIFY is ignored: There are no events 'dag.ends'")
    assert len(orders) == 1

    def no_process() -> int:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.undo()
    monkeypatch.setattr(os, "fork", no_process)
    notifiers = Notifiers(primary, OF_DAG, "", said.append)
    notifiers.start()
    assert said[1] == (
        "Warning: can't start the process of NOTIFY 1: Resource temporarily unavailable"
    )
    notifiers.end()  # it is tried again
    assert len(said) == 4
