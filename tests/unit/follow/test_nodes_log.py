"""Events of the nodes log: whole ones and damaged ones."""

from __future__ import annotations

from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import NodesLogEvent, log_events
from tests import log_samples

TIMES = LocalTimes(lambda text, utc: 60.0, 2026)


def read(text: str, begin: int = 0) -> list[NodesLogEvent]:
    return list(log_events(text.encode("utf-8", "surrogateescape"), begin, TIMES))


def test_every_common_event_is_read() -> None:
    text = "".join(log_samples.COMMON)
    found = read(text, 100)
    assert len(found) == len(log_samples.COMMON)
    assert found[-1].end == 100 + len(text.encode())
    assert all(event.time > 60 for event in found)


def test_line_ends_of_windows_change_nothing() -> None:
    text = "".join(log_samples.COMMON)
    other = text.replace("\n", "\r\n")
    found = read(other + text, 100)
    plain = [event._replace(end=0) for event in read(text + text)]
    assert [event._replace(end=0) for event in found] == plain
    assert found[len(found) // 2 - 1].end == 100 + len(other.encode())
    assert found[-1].end == 100 + len((other + text).encode())
    one = log_samples.event(1, "Job executing on host: <h>\n").replace("\n", "\r\n")
    for cut in range(1, len(one)):
        assert len(read(one + one[:cut])) == 1


def test_a_part_of_an_event_is_left_for_later() -> None:
    one = log_samples.event(1, "Job executing on host: <h>\n")
    for cut in range(1, len(one)):
        assert len(read(one + one[:cut])) == 1


def test_garbage_and_the_beginning_of_another_event_are_passed_over() -> None:
    one = log_samples.event(1, "Job executing on host: <h>\n", job="001.000.000")
    other = log_samples.event(1, "Job executing on host: <h>\n", job="002.000.000")
    assert [event.cluster for event in read(f"\0garbage\n{one}nonsense\n...\n{other}")] == [1, 2]
    assert [event.cluster for event in read(one.replace("...\n", "") + other)] == [1, 2]


def test_an_event_with_other_values_keeps_its_text() -> None:
    (event,) = read(log_samples.event(1, "Job executing on host: <h>\n"))
    other = event._replace(time=7.0, end=3)
    assert (other.time, other.end, other.said) == (7.0, 3, event.said)


def test_numbers_that_no_job_has_are_damage() -> None:
    for job in ("3000000000.000.000", "007.9999999999.000", "007.000.2147483648"):
        assert not read(log_samples.event(1, "Job executing on host: <h>\n", job=job))
    assert read(log_samples.event(0, "Job submitted\n", job="-01.2147483647.001"))
