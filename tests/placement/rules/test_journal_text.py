"""What a DATA node notes as done."""

from __future__ import annotations

from condor_pydagman.data_requests.requests import Allocate, Transfer
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.rules.journal_text import (
    Done,
    complete_line,
    done_line,
    key_of,
    named_line,
    read_done,
    read_named,
)

TRANSFER = Transfer(parse_url("http://me:pw@h/a"), parse_url("/b"))


def test_what_is_done_is_read_back() -> None:
    text = done_line(Done("a", 3)) + done_line(Done("b", -1))
    assert read_done(text) == {"a": 3, "b": -1}


def test_after_a_success_all_is_done_again() -> None:
    assert read_done(done_line(Done("a", 3)) + complete_line() + done_line(Done("b", 1))) == {
        "b": 1
    }


def test_files_that_were_about_to_get_their_names() -> None:
    text = named_line("a", (1, 2)) + done_line(Done("b", 3)) + named_line("c", (4, 5))
    assert read_named(text + '["d", 1]\n["e", 1, "x"]\n["f", 1, ') == {"a": (1, 2), "c": (4, 5)}
    assert read_done(text) == {"b": 3}
    assert read_named(text + complete_line()) == {}


def test_a_job_that_was_killed_after_its_success_has_done_all() -> None:
    text = done_line(Done("a", 3)) + named_line("b", (1, 2)) + complete_line("7.0")
    assert (read_done(text, "7.0"), read_named(text, "7.0")) == ({"a": 3}, {"b": (1, 2)})
    for job in ("8.0", ""):
        assert (read_done(text, job), read_named(text, job)) == ({}, {})
    assert read_done(done_line(Done("a", 3)) + complete_line(), "") == {}


def test_damaged_lines_count_for_nothing() -> None:
    text = done_line(Done("a", 3)) + '["b", \n{}\n3\n["c"]\n[1, 2]\n["d", "e"]\n'
    assert read_done(text) == {"a": 3}


def test_a_changed_request_is_another_one() -> None:
    keys = {
        key_of(TRANSFER),
        key_of(TRANSFER._replace(checksum="md5:00")),
        key_of(TRANSFER._replace(destination=parse_url("/c"))),
        key_of(Allocate("h", "1", 5)),
        key_of(Allocate("h", "1", 6)),
    }
    assert len(keys) == 5
    assert key_of(TRANSFER) == key_of(TRANSFER._replace(line=9, priority=3))


def test_users_and_queries_name_other_files_and_passwords_do_not() -> None:
    urls = ["ftp://a:p@h/f", "ftp://b:p@h/f", "http://h/f?key=a", "http://h/f?key=b"]
    assert len({key_of(TRANSFER._replace(destination=parse_url(url))) for url in urls}) == 4
    others = [parse_url(f"ftp://a:{password}@h/f") for password in "pq"]
    assert len({key_of(TRANSFER._replace(source=one)) for one in others}) == 1
