"""Events that we read ourselves come out as the bindings give them, whatever is in the log."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.adapters import joblog
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.engine.inputs import LogBroken, LogEvent
from condor_pydagman.records.event_text import CommonEvents
from tests import log_samples
from tests.descriptors import descriptors
from tests.log_samples import COMMON, ODD, WHEN

GARBAGE = (
    "garbage\n...\n",
    "...\n",
    "\n",
    "\0\1\n...\n",
    "#!\n" * 9 + "...\n",
    "x",
    "\r\n",
    "005\n",
)
PIECES = (
    *(
        "0",
        "9",
        "-",
        " ",
        "\n",
        "\t",
        '"',
        "\\",
        "é",
        "\udce9",
        ".",
        "...\n",
        "\r",
        "\0",
        "]",
        ";",
        "(",
    ),
    *(
        "x" * 1100,
        "y" * 350,
        "\x85",
        "\xa0",
        "%s",
        "2147483648",
        "null",
        "1e5",
        "005",
        "-01",
        "\x7f",
    ),
)


def both(path: Path) -> tuple[NodesLog, NodesLog]:
    """A reader as it is, and one that leaves everything to the bindings."""
    path.write_bytes(b"")
    ours, theirs = NodesLog(str(path)), NodesLog(str(path), bindings_only=True)
    ours.open(truncate=False)
    theirs.open(truncate=False)
    return ours, theirs


def all_read(log: NodesLog) -> list[LogEvent | LogBroken]:
    """All there is to read; unreadable events carry the time of reading, which is left out."""
    events = log.read()
    while log.more:
        events += log.read()
    return [
        event._replace(time=0.0)
        if isinstance(event, LogEvent) and event.text == "(unreadable)"
        else event
        for event in events
    ]


@pytest.mark.parametrize("seed", range(40))
def test_what_we_read_ourselves_is_what_the_bindings_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A log of any events with garbage between, looked at while it grows by any pieces."""
    draw = random.Random(seed)
    monkeypatch.setattr(joblog, "MAX_BATCH_EVENTS", draw.choice((1, 3, 500)))
    monkeypatch.setattr(joblog, "BLOCK_BYTES", draw.choice((3000, 262144)))
    monkeypatch.setattr(joblog, "MAX_EVENT_BYTES", 2000)
    sources = draw.choice(((COMMON,), (COMMON, ODD), (COMMON, COMMON, COMMON, ODD, GARBAGE)))
    parts = [draw.choice(draw.choice(sources)) for _ in range(draw.choice((2, 10, 60)))]
    data = (COMMON[0] + "".join(parts)).encode()
    cuts = sorted(draw.randrange(len(data)) for _ in range(draw.choice((0, 3, 20))))
    logs = both(tmp_path / "log")
    found: tuple[list[LogEvent | LogBroken], ...] = ([], [])
    for begin, end in zip([0, *cuts], [*cuts, len(data)]):
        with open(logs[0].path, "ab") as file:
            file.write(data[begin:end])
        for log, events in zip(logs, found):
            events += all_read(log)
        if GARBAGE not in sources:  # there the bindings stop now here, now there, by the clock
            assert repr(found[0]) == repr(found[1])
            assert logs[0].torn == logs[1].torn
    assert repr(found[0]) == repr(found[1])


def damaged(text: str, draw: random.Random) -> str:
    """An event with a piece put in, cut out or replaced."""
    at = draw.randrange(len(text))
    kept = at + draw.choice((0, 0, 1, 1, 2, 20))
    return text[:at] + draw.choice((*PIECES, "")) + text[kept:]


@pytest.mark.parametrize("seed", range(10))
def test_whatever_we_take_for_a_common_form_the_bindings_read_the_same(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    common = CommonEvents(lambda stamp: 0.0 if stamp == "2026-11-21T11:56" else None)
    texts = (damaged(draw.choice(COMMON), draw) for _ in range(3000))
    taken = [text for text in (t.encode("utf-8", "surrogateescape") for t in texts)
             if common.read(text, 0, 2)[1] == len(text)]  # fmt: skip
    assert len(taken) > 100
    ours, theirs = both(tmp_path / "log")
    Path(ours.path).write_bytes(b"".join(taken))
    found = all_read(ours)
    assert len(found) == len(taken)
    assert repr(found) == repr(all_read(theirs))


# Without a data base of time zones.
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
LORD_HOWE = "LHST-10:30LHDT-11,M10.1.0,M4.1.0"
ZONES = """\
import sys
from condor_pydagman.adapters.joblog import NodesLog
ours, theirs = NodesLog(sys.argv[1]), NodesLog(sys.argv[1], bindings_only=True)
ours.open(truncate=False)
theirs.open(truncate=False)
events = ours.read()
assert events == theirs.read()
print(*(f"{event.stamp[9:]}={event.time:.0f}" for event in events))
"""


@pytest.mark.parametrize("zone", ["UTC", BERLIN, LORD_HOWE])
def test_local_times_where_clocks_change(tmp_path: Path, zone: str) -> None:
    """Also times that were never on a clock; a time that was twice is the first of the two."""
    days = ("2026-03-29", "2026-10-25", "2026-04-05", "2026-10-04")
    clocks = ("00:30:00", "01:45:00", "02:10:00", "02:40:00", "03:10:00")
    path = tmp_path / "log"
    path.write_text(
        "".join(COMMON[0].replace(WHEN, f"{day} {clock}") for day in days for clock in clocks)
    )
    command = [sys.executable, "-c", ZONES, str(path)]
    done = subprocess.run(
        command, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
    )
    if zone == BERLIN:
        assert "02:10:00=1792887000" in done.stdout.split()


def test_odd_events_between_common_ones_cost_no_file_descriptors(tmp_path: Path) -> None:
    log, _ = both(tmp_path / "log")
    Path(log.path).write_text("".join(odd + COMMON[0] for odd in ODD))
    before = descriptors()
    assert len(log.read()) == 2 * len(ODD)
    assert not descriptors() - before


@pytest.mark.parametrize("first", ["<c>\n</c>\n", "{\n}\n...\n", "<?xml?>\n"])
def test_a_log_of_another_format_is_left_to_the_bindings(tmp_path: Path, first: str) -> None:
    ours, theirs = both(tmp_path / "log")
    Path(ours.path).write_text(first + COMMON[0] * 3)
    assert repr(all_read(ours)) == repr(all_read(theirs))


@pytest.mark.parametrize("bindings_only", [False, True])
def test_garbage_at_the_beginning_hides_nothing_behind_it(
    tmp_path: Path, bindings_only: bool
) -> None:
    path = tmp_path / "t.nodes.log"
    path.write_bytes(b"\0\xff nonsense\nmore of it\n...\n" + log_samples.COMMON[0].encode())
    log = NodesLog(str(path), bindings_only=bindings_only)
    log.open(truncate=False)
    events = log.read()
    while log.more:
        events += log.read()
    assert [event.kind for event in events if isinstance(event, LogEvent)] == [0]


@pytest.mark.parametrize("bindings_only", [False, True])
@pytest.mark.parametrize(("word", "value"), [("Complete", 0), ("Incomplete", -1002)])
def test_how_late_materialization_ended(
    tmp_path: Path, word: str, value: int, bindings_only: bool
) -> None:
    path = tmp_path / "t.nodes.log"
    text = f"Cluster removed\n\tMaterialized 5 jobs from 0 items.\t{word}\n"
    path.write_text(log_samples.event(36, text, job="007.-01.000"))
    log = NodesLog(str(path), bindings_only=bindings_only)
    log.open(truncate=False)
    (event,) = log.read()
    assert isinstance(event, LogEvent)
    assert (event.kind, event.cluster, event.value) == (36, 7, value)
