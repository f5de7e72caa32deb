"""The table of states, as data for the page."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

from condor_pydagman.follow.shown_states import BAR, LOOKS
from condor_pydagman.web import application
from condor_pydagman.web.application import states_of_page, style_sheet, with_states

PAGE = Path(application.PAGE)


def test_the_first_file_of_the_page_has_the_table_as_data() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    begin = '<meta name="states" content="'
    text = unescape(with_states(index).partition(begin)[2].partition('">')[0])
    assert json.loads(text) == states_of_page()
    assert list(json.loads(text)) == [LOOKS[state].key for state in BAR]


def test_colours_have_a_light_and_a_dark_form() -> None:
    sheet = style_sheet()
    for look in LOOKS.values():
        strong = f"light-dark({look.paint.strong}, {look.paint.dark_strong})"
        assert f".s-{look.key} {{ --strong: {strong};" in sheet


def test_the_page_itself_has_no_table() -> None:
    for path in PAGE.glob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert not any(look.sign in text or look.meaning in text for look in LOOKS.values()), path
        assert path.suffix != ".css" or "--strong:" not in text, path
