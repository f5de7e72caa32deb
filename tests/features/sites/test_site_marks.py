"""Sites in pictures: colours, strips, the legend."""

from __future__ import annotations

from xml.dom import minidom

from condor_pydagman.graph.model import Dag
from condor_pydagman.picture import States, make_picture, node_ads, svg
from condor_pydagman.picture.site_marks import COLOURS, OTHERS, colours_of
from condor_pydagman.picture.svg import Picture
from tests.make import dag as make_dag
from tests.unit.picture import dag_of, dot


def picture(dag: Dag, fold_above: int = 50, **sites: str) -> Picture:
    states = States(dag)
    states.sites = {dag.ids[name]: site for name, site in sites.items()}
    return make_picture(dag, states, "x.dag", dot(), fold_above=fold_above)


def test_a_strip_the_legend_and_the_details_tell_where_nodes_are() -> None:
    text = "".join(svg(picture(dag_of("ABC"), A="north", B="north", C="south")))
    minidom.parseString(text.encode())
    assert text.count('class="site"') == 3
    for words in ("2 at north", "1 at south", "site: north", "site: south"):
        assert words in text


def test_a_folded_box_has_a_piece_for_each_site() -> None:
    names = [f"n{number}" for number in range(40)]
    where = {name: "north" if place < 30 else "south" for place, name in enumerate(names)}
    text = "".join(svg(picture(dag_of(names), 5, **where)))
    assert text.count('class="site"') == 2
    assert "30 at north\n10 at south" in text


def test_a_picture_without_sites_has_no_marks_of_them() -> None:
    assert 'class="site"' not in "".join(svg(picture(dag_of("ABC"))))


def test_names_of_sites_stay_text() -> None:
    text = "".join(svg(picture(dag_of("A"), A='<b>&"\x00')))
    minidom.parseString(text.encode())
    assert "<b>" not in text


def test_sites_beyond_the_colours_share_one() -> None:
    colours = list(colours_of(f"s{number:02}" for number in range(len(COLOURS) + 2)).values())
    assert colours == [*COLOURS, OTHERS, OTHERS]
    names = [f"n{number:02}" for number in range(12)]
    text = "".join(svg(picture(dag_of(names), **{name: f"at-{name}" for name in names})))
    assert "4 at other sites" in text


def test_the_site_of_a_node_is_read_from_a_node_status_file() -> None:
    tail = "  RetryCount = 0;\n  JobProcsQueued = 1;\n"
    ads = "".join(
        f'[\n  Type = "NodeStatus";\n  Node = "{name}";\n  NodeStatus = 3;'
        f' /* "STATUS_SUBMITTED" */\n  StatusDetails = "idle";\n{tail}{site}]\n'
        for name, site in (("A", ""), ("B", '  Site = "north";\n'))
    )
    assert [(ad.name, ad.site) for ad in node_ads(ads, "f")] == [("A", ""), ("B", "north")]


GROUPED = """\
JOB A a.sub
JOB B a.sub
JOB C a.sub
SITE_GROUP unit1 NODES A B
"""


def test_nodes_of_a_group_are_marked_before_it_has_a_site() -> None:
    text = "".join(svg(picture(make_dag(GROUPED))))
    minidom.parseString(text.encode())
    assert text.count(">unit1</tspan>") == 2
    assert "2 in groups without a site so far (SITE_GROUP)" in text
    assert text.count('class="unplaced"') == 3  # and one in the legend
    assert "group: unit1" in text


def test_a_group_that_has_a_site_has_no_empty_strip() -> None:
    text = "".join(svg(picture(make_dag(GROUPED), A="north", B="north")))
    assert 'class="unplaced"' not in text
    assert "without a site" not in text


def test_a_folded_box_tells_how_many_groups_it_has() -> None:
    jobs = "".join(f"JOB n{number} a.sub\n" for number in range(40))
    groups = "".join(f"SITE_GROUP g{number} NODES n{number}\n" for number in range(40))
    text = "".join(svg(picture(make_dag(jobs + groups), 5)))
    assert "in 40 groups that run at one site each" in text
    assert text.count('class="unplaced"') == 2
