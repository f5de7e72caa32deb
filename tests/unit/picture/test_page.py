"""HTML pages: safe, self-contained, small."""

from __future__ import annotations

import json
import re

from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.picture import page, svg
from tests.unit.picture import dag_of, diamond, picture


def test_the_same_dag_gives_the_same_bytes() -> None:
    assert "".join(page(picture(diamond()))) == "".join(page(picture(diamond())))


def test_names_can_not_break_out_of_the_page() -> None:
    evil = "</script><script>alert('&quot;')</script><!--"
    text = "".join(page(picture(dag_of([evil, "b"], [([0], [1])]))))
    assert evil not in text
    assert text.count("<script") == 2
    data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])[0]["lines"][0] == evil


def test_a_page_needs_nothing_from_elsewhere() -> None:
    text = "".join(page(picture(diamond()))).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|src=|@import|url\((?!#)", text)


def test_a_folded_picture_is_small_and_lists_members() -> None:
    names = [*(f"work_{n}" for n in range(5000)), "join"]
    made = picture(dag_of(names, [(range(5000), [5000])]), 50, work_77=Shown.FAILED)
    assert len("".join(svg(made))) < 20_000
    text = "".join(page(made))
    assert "work_77" in text
    assert "5,001 nodes in 3 boxes" in text
