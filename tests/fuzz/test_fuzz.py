"""A short run of the fuzzer; a long one is `python -m tests.fuzz.run --count 1000000`."""

from __future__ import annotations

import pytest

from tests.fuzz.rules import BrokenError, check
from tests.fuzz.run import Source, fuzz
from tests.fuzz.sample import Sample

COUNT = 1_000


# The other seeds are more of the same.
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3, 4))]
)
def test_every_input_gives_a_dag_or_an_error_with_a_place(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = fuzz(seed, COUNT)
    assert not broken, capsys.readouterr().out


def test_the_inputs_are_good_and_bad() -> None:
    source = Source(7)
    found = []
    for _ in range(200):
        try:
            found.append(check(source.next()))
        except BrokenError:
            continue
    assert found.count("accepted") > 20
    assert found.count("refused") > 20


# Inputs that the fuzzer found once.
@pytest.mark.parametrize(
    "sample",
    [
        Sample({"x.dag": "\\\n="}, ("x.dag",)),
        Sample({"x.dag": "#\0\nJ\n"}, ("x.dag",), block=1),
        Sample({"x.dag": "SPLICE S missing\n" * 1100}, ("x.dag",)),
        Sample({"x.dag": "INCLUDE x.dag\n"}, ("x.dag",)),
        Sample({"x.dag": "SPLICE U c DIR ..\n"}, ("x.dag",)),
        Sample({"x.dag": "INCLUDE " + "x" * 5000}, ("x.dag",)),
        Sample({"x.dag": "PRIORITY \x0b 1"}, ("x.dag",)),
        Sample({"x.dag": "SPLICE \ufeff b"}, ("x.dag",)),
        Sample({"x.dag": "JOB B b\nSCRIPT POST B '\nSCRIPT POST B \udced"}, ("x.dag",)),
        Sample({"x.dag": "PARENT P CHILD Q\nPARENT 5 CHILD child\nP"}, ("x.dag",)),
        Sample({"x.dag": "\r\nPARENT P CHILD A\n"}, ("x.dag",)),
        Sample({"x.dag": "INCLUDE o\udcff\x1b", "o\udcff\x1b": "REJECT"}, ("x.dag",)),
        Sample({"x.dag": "SPLICE S o\udcff\x1b", "o\udcff\x1b": "x"}, ("x.dag",)),
        Sample({"x.dag": "JOB A E\nPUBLISH A FILE g\nCACHE A"}, ("x.dag",)),
        Sample({"x.dag": "JOB A a\nNOT_NEEDED A\nSKIPPED A"}, ("x.dag",)),
    ],
    ids=lambda sample: repr(sample.files["x.dag"])[1:40],
)
def test_found_once(sample: Sample) -> None:
    check(sample)
