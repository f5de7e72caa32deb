"""The arguments of an HTCondor daemon, in front of DAGMan's own."""

from __future__ import annotations

import pytest

from condor_pydagman.dagman_job.options import split
from condor_pydagman.errors import UsageError


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("-f -l . -Dag x", "-Dag x"),
        ("-p 0 -f -l . x.dag", "x.dag"),
        ("-f -t -q -b -d -Dag x", "-Dag x"),
        ("-pidfile p -sock s -local-name n -a y -c z -r 5 -Dag x", "-Dag x"),
        ("-Dag x -f -l .", "-Dag x -f -l ."),
        ("x.dag -f", "x.dag -f"),
        ("-f -f -l . -l . -lockfile x", "-lockfile x"),
        ("-force -Dag x", "-force -Dag x"),
        ("-priority 5", "-priority 5"),
        ("-debug 5", "-debug 5"),
        ("", ""),
    ],
)
def test_they_are_taken_as_whole_words_until_the_first_other(line: str, rest: str) -> None:
    found = split(line.split())
    assert found.rest == tuple(rest.split())
    assert not found.version


@pytest.mark.parametrize("line", ["-v", "-version", "-f -l . -v -Bogus"])
def test_version(line: str) -> None:
    assert split(line.split()).version


@pytest.mark.parametrize(("line", "port"), [("-p 0", 0), ("-f -port 9618", 9618), ("-f", None)])
def test_port(line: str, port: int | None) -> None:
    assert split([*line.split(), "-Dag", "x"]).port == port


@pytest.mark.parametrize("word", ["-l", "-log", "-p", "-sock"])
def test_a_value_that_is_missing(word: str) -> None:
    with pytest.raises(UsageError, match=f"{word} needs another argument"):
        split(["-f", word])


def test_the_kill_option_is_refused() -> None:
    with pytest.raises(UsageError, match="condor_rm"):
        split(["-k", "pidfile"])
