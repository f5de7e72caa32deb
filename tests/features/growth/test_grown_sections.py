"""The texts of pieces, as they are kept."""

from __future__ import annotations

from condor_pydagman.features.growth.commands import Feeding
from condor_pydagman.features.growth.grown_sections import read_body, read_head, section
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.stepwise import at_once

TEXT = PieceText(
    "p", {"p": "JOB \udcff x\n", "q": ""}, BuildOptions(strict=3), "d", "S+", "A", ("B",), True
)


def test_a_section_gives_its_text_back() -> None:
    digest, data = at_once(section(TEXT))
    found = read_head(data)
    assert found == (digest, data.index(b"\n") + 1, len(data) - data.index(b"\n") - 1)
    assert read_body(digest, data[found[1] :]) == TEXT


def test_what_is_damaged_is_told() -> None:
    digest, data = at_once(section(TEXT))
    head = data.index(b"\n") + 1
    assert read_body(digest, data[head:-1]) is None
    assert read_body(digest, data[head:].replace(b"JOB", b"FOO")) is None
    assert read_head(b"PIECE zz 5\n") is None
    assert read_head(data[: head - 1]) is None


def test_a_piece_of_the_feeder() -> None:
    text = PieceText("f", {"f": ""}, BuildOptions(), feeding=Feeding(3, True))
    digest, data = at_once(section(text))
    found = read_head(data)
    assert found is not None
    assert read_body(digest, data[found[1] :]) == text
