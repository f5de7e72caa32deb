"""Unit tests of web/site_places.py."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.features.sites.shown import GroupSite
from condor_pydagman.web.picture_boxes import PictureBoxes
from condor_pydagman.web.site_places import NOWHERE, SitePlaces, SitesSeen, at_sites, shares
from tests.unit.graph.texts import build_text

DAG = (
    "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\nJOB D a.sub\n"
    "SITE_GROUP g NODES A B\nSITE_GROUP h NODES D\n"
)


def at(**sites: str) -> dict[str, GroupSite]:
    return {name: GroupSite(site, 1) for name, site in sites.items()}


def places(names: Sequence[str], of: Sequence[int]) -> SitePlaces:
    return SitePlaces(tuple(names), list(of), [0] * len(names))


def test_sites_are_in_the_order_of_names_and_later_ones_behind() -> None:
    seen = SitesSeen(build_text(DAG))
    assert seen.places({}) == SitePlaces((), [0, 0], [])
    first = seen.places(at(g="south", h="north"))
    assert first == SitePlaces(("north", "south"), [2, 1], [1, 2])
    assert seen.places(at(g="east")) == SitePlaces(("north", "south", "east"), [3, 0], [0, 0, 2])


def test_a_client_is_told_what_it_does_not_know() -> None:
    was, now = places("n", [1, 0, 1]), places("ns", [1, 2, 0])
    assert now.news(None)["of"] == [1, 2, 0]
    told = now.news(was)
    assert (told["changes"], told["names"]) == ([[1, 2], [2, 0]], ("n", "s"))
    assert "of" not in told
    assert places("n", [1]).news(was)["of"] == [1], "another number of groups: another DAG"
    assert places("x", [1, 0, 1]).news(was)["of"] == [1, 0, 1], "other sites: another run"
    assert NOWHERE.news(was) == {"names": (), "nodes": (), "of": ()}


def test_shares_of_boxes() -> None:
    found = shares(build_text(DAG), [0, 0, 0, 7])
    assert found == {0: {0: 2}, 7: {1: 1}}
    assert list(at_sites(found[0], places("ns", [2, 1]))) == [[2, 2]]
    assert list(at_sites(found[7], places("ns", [2, 0]))) == []


def test_boxes_of_the_picture() -> None:
    boxes = PictureBoxes(build_text(DAG))
    known = places("ns", [2, 0])
    found = {box["label"]: box for box in boxes.picture([], bytes(4), 1, known)["boxes"]}
    assert [found[name].get("site_group") for name in "ABCD"] == [0, 0, None, 1]
    bare = boxes.picture([], bytes(4), 1, places("n", [1]))["boxes"]
    assert not any("site_group" in box for box in bare), "places of another DAG"


def test_a_box_of_many_nodes_has_shares() -> None:
    many = "".join(f"JOB n{number} a.sub\n" for number in range(300))
    children = " ".join(f"n{number}" for number in range(300))
    text = f"JOB r a.sub\n{many}PARENT r CHILD {children}\nSITE_GROUP g NODES n1 n2 n3\n"
    found = PictureBoxes(build_text(text)).picture([], bytes(301), 1, places("ns", [2]))
    (box,) = [box for box in found["boxes"] if box["node"] is None]
    assert (box["count"], box["sites"]) == (300, [[2, 3]])


def test_a_dag_without_groups_has_none_of_it() -> None:
    dag = build_text("JOB A a.sub\n")
    assert shares(dag, [0]) == {}
    (box,) = PictureBoxes(dag).picture([], bytes(1), 1, None)["boxes"]
    assert not {"sites", "site_group"} & set(box)
