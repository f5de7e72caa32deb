"""Sites as people see them."""

from __future__ import annotations

from collections import Counter

import classad2

from condor_pydagman.cli.sites_command import table
from condor_pydagman.matchmaking.site_ads import sites_of
from condor_pydagman.matchmaking.site_overview import rows
from condor_pydagman.sites.claims import Claims


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
