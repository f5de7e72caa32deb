"""Why there is no site for groups, in words."""

from __future__ import annotations

from condor_pydagman.features.sites.analysis import Obstacle, Verdict, analysis

O = Obstacle  # noqa: E741


def test_no_sites() -> None:
    assert analysis([]).startswith("the collector has no ads of sites")


def test_one_site() -> None:
    assert analysis([Verdict("a", O.FULL)]) == "of 1 site, 1 is full (a)"
    assert analysis([Verdict("a", O.SITE_REFUSES)]) == (
        "of 1 site, 1 does not want the group by its own Requirements (a)"
    )
    broken = Verdict("a", O.BROKEN, detail="MaxMatches is -1")
    assert analysis([broken]) == "of 1 site, 1 has an ad that can't be used (a: MaxMatches is -1)"


def test_many_sites_are_counted() -> None:
    found = [Verdict(f"s{n}", O.FULL) for n in range(7)]
    found += [Verdict("t", O.GROUP_REFUSES), Verdict("u", O.GROUP_REFUSES), Verdict("v", O.NONE)]
    assert analysis(found) == (
        "of 10 sites, 1 is left out, because the group had to leave it (v);"
        " 7 are full (s0, s1, s2, s3, s4, ...); 2 are not what the group requires (t, u)"
    )
