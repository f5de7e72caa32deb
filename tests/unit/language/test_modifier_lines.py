"""Lines that say more of nodes; the messages are those of the stock checker for the same lines."""

from __future__ import annotations

import pytest

from condor_pydagman.language.commands import Command, SavePointFile, ScriptLine, ToleranceLine
from condor_pydagman.vocabulary import ScriptKind
from tests.unit.language.one_line import good, message, warnings, wrong

MISSING_TYPE = (
    "SCRIPT: Missing script type (PRE, POST, HOLD) and optional sub-commands (DEFER, DEBUG)"
)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("SCRIPT HOLD A x", ScriptLine(1, "A", ScriptKind.HOLD, "x")),
        (
            "script defer 1 2 DEFER 3 -4 debug 'f g' All post ALL_NODES x",
            ScriptLine(1, "ALL_NODES", ScriptKind.POST, "x", 3, -4, "'f g'", "ALL"),
        ),
        (
            "SCRIPT DEFER 4 1800 times 10 for 2d Backoff 1.5 MAX_DELAY 2h POST A x",
            ScriptLine(1, "A", ScriptKind.POST, "x", 4, 1800, "", "", 10, 172800, 1.5, 7200),
        ),
        (
            "SCRIPT DEFER 4 5 FOR 1h DEBUG f ALL TIMES 2 PRE A x",
            ScriptLine(1, "A", ScriptKind.PRE, "x", 4, 5, "f", "ALL", 2, 3600),
        ),
        ("TOLERANCE A 0", ToleranceLine(1, "A", 0)),
        ("TOLERANCE A 5%", ToleranceLine(1, "A", 5, True)),
        ("TOLERANCE A 200 %", ToleranceLine(1, "A", 200, True)),
        ("TOLERANCE A +5 fail_fast", ToleranceLine(1, "A", 5, False, True)),
        ("TOLERANCE ALL_NODES 5 % Wait", ToleranceLine(1, "ALL_NODES", 5, True, False)),
        ("TOLERANCE A 5%x %", ToleranceLine(1, "A", 5, True)),
        ("TOLERANCE A 5x%", ToleranceLine(1, "A", 5, True)),
        ("TOLERANCE A 50%%", ToleranceLine(1, "A", 50, True)),
        ("SAVE_POINT_FILE A", SavePointFile(1, "A")),
        ('save-point-file A "b c"', SavePointFile(1, "A", "b c")),
        ('SAVE_POINT_FILE A ""', SavePointFile(1, "A")),
        ('SAVE_POINT_FILE A "" b', SavePointFile(1, "A", "b")),
        ('SAVE_POINT_FILE "ALL_NODES"', SavePointFile(1, '"ALL_NODES"')),
    ],
)
def test_good_lines(text: str, command: Command) -> None:
    assert good(text) == command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('SCRIPT "DEBUG" f ALL PRE A x', MISSING_TYPE),
        ("SCRIPT DEBUG f a-b PRE A x", "SCRIPT: Unknown DEBUG output stream type 'a-b'"),
        ("SCRIPT TIMES 3 PRE A x", MISSING_TYPE),
        ("SCRIPT DEFER 1 2 TIMES 0 PRE A x", "SCRIPT: Invalid TIMES value '0'"),
        ("SCRIPT DEFER 1 2 TIMES 3 TIMES 4 PRE A x", "SCRIPT: Unexpected token 'TIMES'"),
        ("SCRIPT DEFER 1 2 FOR x PRE A x", "SCRIPT: Invalid FOR time value 'x'"),
        ("SCRIPT DEFER 1 2 BACKOFF 0.5 PRE A x", "SCRIPT: Invalid BACKOFF factor '0.5'"),
        ("TOLERANCE", "TOLERANCE: No node name specified"),
        ("TOLERANCE A -1%", "TOLERANCE: Invalid tolerance value '-1'"),
        ("TOLERANCE A %%", "TOLERANCE: Invalid tolerance value '%'"),
        ("TOLERANCE A %5", "TOLERANCE: Invalid tolerance value '%5'"),
        ('TOLERANCE A "5%"', "TOLERANCE: Invalid tolerance value '\"5%\"'"),
        ("TOLERANCE A 99999999999%", "TOLERANCE: Invalid tolerance value '99999999999'"),
        ("TOLERANCE A % 5", "TOLERANCE: Empty percentage specified for failure tolerance"),
        ("TOLERANCE A 1 % %", "TOLERANCE: Unexpected token '%'"),
        ("TOLERANCE A 1% %", "TOLERANCE: Unexpected token '%'"),
        ("TOLERANCE A 1 %x", "TOLERANCE: Unexpected token '%x'"),
        ("TOLERANCE A 1 % WAIT x", "TOLERANCE: Unexpected token 'x'"),
        ('TOLERANCE A 1 "WAIT"', "TOLERANCE: Unexpected token '\"WAIT\"'"),
        ("TOLERANCE A x 'q", "TOLERANCE: Invalid quoting: no ending quote found"),
        ("TOLERANCE A x% 'q", "TOLERANCE: Invalid tolerance value 'x'"),
        ("TOLERANCE A x % 'q", "TOLERANCE: Invalid tolerance value 'x'"),
        ("TOLERANCE A % 'q", "TOLERANCE: Empty percentage specified for failure tolerance"),
        (
            "SAVE_POINT_FILE all_nodes x",
            "SAVE_POINT_FILE: ALL_NODES cannot be used for save point file command",
        ),
    ],
)
def test_wrong_lines(text: str, expected: str) -> None:
    assert message(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SCRIPT PER A x", "did you mean PRE?"),
        ("SCRIPT HLD A x", "did you mean HOLD?"),
        ("SCRIPT DEFFER 1 2 PRE A x", "did you mean DEFER?"),
        ("SCRIPT DEBG f ALL PRE A x", "did you mean DEBUG?"),
        ("SCRIPT A x", "expected PRE, POST, HOLD, DEFER or DEBUG"),
        ("SCRIPT DEBUG f STDOT PRE A x", "did you mean STDOUT?"),
        ("RETRY A 3 UNLES-EXIT 2", "did you mean UNLESS-EXIT?"),
        ("RETRY A x", "expected a whole number, 0 or more"),
        ("ABORT-DAG-ON A 3 RETRUN 2", "did you mean RETURN?"),
        ("ABORT-DAG-ON A 3 RETURN 300", "expected a whole number from 0 to 255"),
        ("TOLERANCE A 3 FAILFAST", "did you mean FAIL-FAST?"),
        ("TOLERANCE A 3 x", "expected FAIL-FAST, WAIT or %"),
        ("PRIORITY A 1 2", "expected the end of the line"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert wrong(text).hint == hint


def test_a_wrong_tolerance_is_pointed_at() -> None:
    assert [wrong(f"TOLERANCE A x{rest}").column for rest in ("", "%", " %", " WAIT")] == [13] * 4


def test_a_number_that_is_not_quite_one_is_applied_with_a_warning() -> None:
    assert warnings("RETRY A 1e3") == ["Warning: x.dag:1 '1e3' is read as 1"]
    assert warnings("RETRY A 13\nMAXJOBS c 010\nPRIORITY A +5") == []
