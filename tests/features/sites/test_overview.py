"""Sites as people see them."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import classad2
import htcondor2
import pytest

from condor_pydagman.features.sites.adapters.ads import sites_of
from condor_pydagman.features.sites.adapters.claims_directory import Claims
from condor_pydagman.features.sites.adapters.overview import failed_jobs, queued_jobs, rows
from condor_pydagman.features.sites.cli import table


def test_a_site_has_what_its_ad_the_claims_and_the_jobs_say() -> None:
    ads = sites_of(
        [
            classad2.ClassAd({"Name": "north", "MaxMatches": 3, "LastHeardFrom": 940}),
            classad2.ClassAd({"Name": "odd", "MaxMatches": "many", "LastHeardFrom": 999}),
        ]
    )
    claims = [
        Claims("/a.dag", (("g", "north"), ("h", "north"), ("i", "gone"))),
        Claims("/b.dag", (("g", "north"), ("h", "north"))),
    ]
    queued = Counter({("north", "running"): 5, ("north", "held"): 1})
    found = rows(ads, claims, queued, Counter(north=2), 1000.0)
    assert [(row.name, row.groups, row.most, row.room) for row in found] == [
        ("gone", 1, None, 0),
        ("north", 4, 3, 0),
        ("odd", 0, 0, 0),
    ]
    assert found[1].dags == ("/a.dag", "/b.dag")
    assert table(found) == [
        "SITE   GROUPS  ROOM  RUN  IDLE  HELD  FAILED     AD",
        "gone      1/?     -    0     0     0       0   none",
        "north     4/3     0    5     0     1       2  1 min",
        "odd       0/?     0    0     0     0       0    1 s",
        "odd: MaxMatches is 'many', not a whole number",
    ]


def test_no_sites_are_no_table() -> None:
    assert table([]) == []


def test_jobs_of_any_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose attribute can't be read by the bindings does not keep the others from view."""
    sites = ['"north"', r'"n\377"', "7", '"north"', '"' + "x" * 501 + '"']
    jobs = [classad2.ClassAd(f"[JobStatus = 1; PYDAGMAN_Site = {site}]") for site in sites]
    schedd = SimpleNamespace(query=lambda *_: jobs, history=lambda *_, **__: jobs)
    monkeypatch.setattr(htcondor2, "Schedd", lambda: schedd)
    assert queued_jobs() == {("north", "idle"): 2}
    assert failed_jobs(0) == {"north": 2}
