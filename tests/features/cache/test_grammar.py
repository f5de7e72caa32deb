"""How CACHE lines are read and written."""

from __future__ import annotations

import pytest

from condor_pydagman.features.cache.commands import Cache
from condor_pydagman.language.parser import lines_of
from tests.unit.language.one_line import good, message, warnings


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("CACHE A", Cache(1, "A")),
        ("cache ALL_NODES checksum", Cache(1, "ALL_NODES", True)),
        ("CACHE A INPUTS x y OUTPUTS z", Cache(1, "A", False, ("x", "y"), ("z",))),
        ("CACHE A CHECKSUM OUTPUTS z INPUTS x x", Cache(1, "A", True, ("x", "x"), ("z",))),
        ("CACHE A INPUTS 'a b' OUTPUTS $(JOB).o", Cache(1, "A", False, ("a b",), ("$(JOB).o",))),
        ("CACHE A INPUTS x CHECKSUM y", Cache(1, "A", True, ("x", "y"))),
        (
            "CACHE A COUNTS Request_Memory +Site IGNORES arguments COUNTS x",
            Cache(1, "A", counts=("request_memory", "+site", "x"), ignores=("arguments",)),
        ),
        ("CACHE A INPUTS ./OUTPUTS", Cache(1, "A", False, ("./OUTPUTS",))),
    ],
)
def test_lines(line: str, command: Cache) -> None:
    assert good(line + "\n") == command
    assert good(lines_of(command) + "\n") == command


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("CACHE A x", "x"),
        ("CACHE A COUNTS", "COUNTS"),
        ("CACHE A IGNORES a,b", "Invalid name 'a,b'"),
    ],
)
def test_what_is_wrong(line: str, told: str) -> None:
    assert told in message(line + "\n")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ("a, b", "'a,' is one file with a comma in its name: blanks stand between files"),
        ("x IGNORE", "'IGNORE' is taken for a file: the word is IGNORES"),
        ("x OUTPUT", "'OUTPUT' is taken for a file: the word is OUTPUTS"),
        ("*.txt", "'*.txt' is the name of one file: * and ? have no meaning there"),
    ],
)
def test_names_that_are_hardly_meant(files: str, told: str) -> None:
    (warning,) = warnings(f"CACHE A INPUTS {files}\n")
    assert told in warning
