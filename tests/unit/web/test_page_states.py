"""The table of states, as data for the page."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.follow.shown_states import BAR, LOOKS
from condor_pydagman.web import application
from condor_pydagman.web.application import states_of_page, style_sheet, with_tables

PAGE = Path(application.PAGE)


def test_the_first_file_of_the_page_has_the_table_as_data() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    begin = '<meta name="states" content="'
    text = unescape(with_tables(index).partition(begin)[2].partition('">')[0])
    assert json.loads(text) == states_of_page()
    assert list(json.loads(text)) == [LOOKS[state].key for state in BAR]


def test_commands_are_told_by_the_table_of_all_that_can_be_asked() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    text = unescape(with_tables(index).partition('<meta name="commands" content="')[2])
    told = json.loads(text.partition('">')[0])
    assert told["cancel"]["options"] == [
        {"name": "retry", "kind": "flag", "help": "retry the nodes if they have retries left"}
    ]
    assert [name for name, one in told.items() if one["of"] == "dag"] == [
        *("halt", "resume", "cancel-all"),
    ]
    keys = {LOOKS[state].key for state in BAR}
    assert all(keys.issuperset(one["states"]) for one in told.values())
    on_page = {name for name, one in told.items() if one["of"] != "dag"}
    assert on_page == {command.value for command in NodeCommand}


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
