"""Idle and held jobs of a DAG, as the schedd tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import classad2
import pytest

from condor_pydagman.explain.jobs import fits_of, idle_and_held
from condor_pydagman.monitor import schedd_queries

HELD = {"ClusterId": 7, "ProcId": 1, "JobStatus": 5, "DAGNodeName": "A", "JobUniverse": 5}


def idle(cluster: int, kind: int | None = 1, universe: int = 5) -> dict[str, Any]:
    ad: dict[str, Any] = {"ClusterId": cluster, "ProcId": 0, "JobStatus": 1}
    ad.update({"JobUniverse": universe, "DAGNodeName": f"N{cluster}"})
    return ad if kind is None else {**ad, "AutoClusterId": kind}


def test_jobs_of_a_kind_are_compared_with_machines_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def jobs_of_dag(cluster: int, wanted: Sequence[str], *, condition: str = "") -> list[Any]:
        asked.append(condition)
        ad = classad2.ClassAd({"ClusterId": 1, "ProcId": 0})
        ad["Requirements"] = classad2.ExprTree("true")
        return [ad]

    monkeypatch.setattr(schedd_queries, "jobs_of_dag", jobs_of_dag)
    monkeypatch.setattr(schedd_queries, "machine_ads", list)
    assert idle_and_held(3)
    other = {**idle(8, None), "RequestCpus": 4}
    ads = [HELD, idle(1), idle(2), idle(4, None), idle(7, None), idle(3), other]
    ads += [idle(5, universe=7), idle(6, universe=12)]
    fits = fits_of(3, ads)
    nodes = [fit.nodes for fit in fits]
    assert nodes == [("N1", "N2", "N3"), ("N4", "N7"), ("N8",)]
    assert asked == [
        "JobStatus == 1 || JobStatus == 5",
        "ClusterId == 1 && ProcId == 0",
        "ClusterId == 4 && ProcId == 0",
        "ClusterId == 8 && ProcId == 0",
    ]
    assert not fits_of(3, [HELD])
