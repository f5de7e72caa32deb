"""Lines that concern the whole DAG; the messages are those of the stock checker."""

from __future__ import annotations

import pytest

from condor_pydagman.language import commands
from tests.unit.language.one_line import good, warnings, wrong


def test_include() -> None:
    assert good('include "a b".dag') == commands.Include(1, "a b.dag")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("DOT f OVERWRTE", "did you mean OVERWRITE?"),
        ("DOT f DONT_UPDAT", "did you mean DONT-UPDATE?"),
        ("ENV PUT A", "expected SET or GET"),
        ("ENV GETT A", "did you mean GET?"),
        ("NODE_STATUS_FILE f ALWAYS", "did you mean ALWAYS-UPDATE?"),
        ("NODE_STATUS_FILE f x", "expected ALWAYS-UPDATE or a number of seconds"),
        ("NODE_STATUS_FILE f ALLWAYS-UPDATE", "did you mean ALWAYS-UPDATE?"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert wrong(text).hint == hint


def test_an_interval_that_is_not_quite_a_number() -> None:
    assert warnings("NODE_STATUS_FILE f 5m") == ["Warning: x.dag:1 '5m' is read as 5"]
