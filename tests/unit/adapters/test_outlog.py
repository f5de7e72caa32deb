"""`.dagman.out`: a time before every line, levels, and a disk that is full for a while."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.adapters import outlog
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.records.log_lines import Header

STAMP = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d ")


def test_every_line_has_a_time(tmp_path: Path) -> None:
    log = OutLog(str(tmp_path / "out"))
    log.say("one")
    log.say("two\nthree\n\nfour")
    log.flush()
    lines = (tmp_path / "out").read_text().splitlines()
    assert all(STAMP.match(line) for line in lines)
    assert [line[18:] for line in lines] == ["one", "two", "three", "", "four"]


def test_nothing_is_written_before_a_flush_nor_twice(tmp_path: Path) -> None:
    log = OutLog(str(tmp_path / "out"))
    log.say("one")
    assert (tmp_path / "out").read_text() == ""
    log.flush()
    log.flush()
    assert (tmp_path / "out").read_text().count("one") == 1


@pytest.mark.parametrize(("tests", "verbosity"), [(True, 2), (True, 1), (False, 2)])
def test_lines_for_tests(tmp_path: Path, tests: bool, verbosity: int) -> None:
    log = OutLog(str(tmp_path / "out"), verbosity)
    log.tests = tests
    log.set_header(Header(category=True))
    log.say("one", 0)
    log.say_test("two", 2)
    log.flush()
    lines = [line[18:] for line in (tmp_path / "out").read_text().splitlines()]
    assert lines == ["(D_ALWAYS) one"] + ["(D_TEST) two"] * (tests and verbosity == 2)


@pytest.mark.parametrize("said", [["one", "two"], []])
def test_marks_around_lines_that_stock_keeps(tmp_path: Path, said: list[str]) -> None:
    log = OutLog(str(tmp_path / "out"))
    log.begin_cached()
    log.say("a detail", 7)
    for line in said:
        log.say(line)
    log.end_cached()
    log.say("three")
    log.flush()
    marks = [f"LOG LINE CACHE: {word} Flush" for word in ("Begin", "End")] if said else ["", ""]
    want = [marks[0], *said, marks[1], "three"]
    lines = [line[18:] for line in (tmp_path / "out").read_text().splitlines()]
    assert lines == [line for line in want if line]


def test_levels_above_the_verbosity_are_left_out(tmp_path: Path) -> None:
    log = OutLog(str(tmp_path / "out"), verbosity=2)
    for level in range(8):
        log.say(f"level {level}", level)
    log.flush()
    assert re.findall(r"level \d", (tmp_path / "out").read_text()) == [
        "level 0",
        "level 1",
        "level 2",
    ]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("A\x1b[2Jgone", "A\\x1b[2Jgone"),
        ("A\r11/22/26 00:00:00 All jobs Completed!", "A\\x0d11/22/26 00:00:00 All jobs Completed!"),
        ("A\x0b\x0c\x85\u2028B", "A\\x0b\\x0c\\u0085\\u2028B"),
        ("\u202egnp.A", "\\u202egnp.A"),
        ("\x9b31mred\x00", "\\u009b31mred\\x00"),
        ("tab\tand é 世界, no-break\u00a0blank", "tab\tand é 世界, no-break\u00a0blank"),
    ],
)
def test_nothing_that_is_said_makes_other_lines(tmp_path: Path, said: str, shown: str) -> None:
    log = OutLog(str(tmp_path / "out"))
    log.say(said)
    log.flush()
    text = (tmp_path / "out").read_bytes().decode()
    assert text[18:] == shown + "\n"
    assert len(text.splitlines()) == 1


def test_an_old_log_is_appended_to_and_its_age_is_known(tmp_path: Path) -> None:
    path = tmp_path / "out"
    assert OutLog(str(path)).touched is None
    path.write_text("old\n")
    log = OutLog(str(path))
    assert log.touched == path.stat().st_mtime
    log.say("new")
    log.flush()
    assert path.read_text().startswith("old\n")
    assert path.read_text().endswith(" new\n")


def test_the_path_is_absolute(work_directory: Path) -> None:
    assert OutLog("out").path == str(work_directory / "out")


def test_bytes_of_file_names_that_are_no_text(tmp_path: Path) -> None:
    log = OutLog(str(tmp_path / "out"))
    log.say("caf\udce9")
    log.flush()
    assert (tmp_path / "out").read_bytes().endswith(b" caf\xe9\n")


def test_a_log_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nosuch"):
        OutLog(str(tmp_path / "nosuch" / "out"))


FULL = """\
import resource, sys
from condor_pydagman.adapters.outlog import OutLog
log = OutLog(sys.argv[1])
log.say("first")
log.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
log.say("lost")
log.say("lost as well")
log.flush()
log.say("lost too")
log.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
log.say("second")
log.flush()
log.flush()
"""


def test_a_full_disk_costs_lines_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True
    )
    lines = [line[18:] for line in path.read_text().splitlines()]
    assert lines[:2] == ["first", "second"]
    assert lines[2].startswith("(3 lines are missing here")
    assert done.stderr.count("can't write") == 1
    assert str(path) in done.stderr


def test_below_the_usual_level_lines_have_stock_s_levels(tmp_path: Path) -> None:
    log = OutLog(str(tmp_path / "out"), verbosity=1)
    log.say("Submitting HTCondor Node A job(s)...")
    log.say("ERROR: submit attempt failed\nEvent: ULOG_SUBMIT_FAILURE for HTCondor Node A")
    log.flush()
    assert [line[18:] for line in (tmp_path / "out").read_text().splitlines()] == [
        "ERROR: submit attempt failed"
    ]


def test_a_header(tmp_path: Path) -> None:
    log = OutLog(str(tmp_path / "out"))
    log.say("before")
    log.set_header(Header("%H", milliseconds=True, descriptor=True, pid=True, category=True))
    log.say("one\ntwo")
    log.set_header(Header(time_format=""))
    log.say("after")
    log.flush()
    lines = (tmp_path / "out").read_text().splitlines()
    assert STAMP.fullmatch(lines[0][:18])
    for line in lines[1:3]:
        assert re.fullmatch(
            rf"\d\d\.\d\d\d \(fd:\d+\) \(pid:{os.getpid()}\) \(D_ALWAYS\) (one|two)", line
        )
    assert re.fullmatch(r"\d{10} after", lines[3])


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_taken_away_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    monkeypatch.setattr(outlog, "FILE_CHECK_S", 0.0)
    log = OutLog(str(tmp_path / "out"))
    log.say("one")
    log.flush()
    (tmp_path / "out").rename(tmp_path / "out.1")
    if replaced:
        (tmp_path / "out").write_text("new\n")
    log.say("two")
    log.flush()
    assert (tmp_path / "out.1").read_text().endswith(" one\n")
    assert (tmp_path / "out").read_text().endswith(" two\n")
    assert (tmp_path / "out").read_text().startswith("new\n") == replaced


def test_where_it_cannot_be_made_anew_the_old_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlog, "FILE_CHECK_S", 0.0)
    log = OutLog(str(tmp_path / "out"))
    (tmp_path / "out").rename(tmp_path / "out.1")
    (tmp_path / "out").mkdir()
    log.say("one")
    log.flush()
    assert (tmp_path / "out.1").read_text().endswith(" one\n")
