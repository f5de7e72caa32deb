"""What is warned of in a description, by what the bindings make of it."""

from __future__ import annotations

import htcondor2
import pytest

from condor_pydagman.adapters.description_remarks import of_description
from condor_pydagman.records.job_description import split
from condor_pydagman.records.shared_description import NodeLines, shared

WRITTEN = "executable = /bin/true\nzork = $(JOB)\nwarning : hello $(JOB)\nrequest_memory = 1\n"


def test_of_a_nodes_description() -> None:
    text = f"JOB = A\nRETRY = 0\n{WRITTEN}queue x in (1 2)\n"
    description = htcondor2.Submit(text)
    before = dict(description)
    assert of_description(description, text, written=WRITTEN, name="a.sub") == [
        "the line 'zork = $(JOB)' was unused by DAGMAN. Is it a typo?",
        "the Queue variable 'x' was unused by DAGMAN. Is it a typo?",
        'Warning "a.sub", Line 3: hello A',
    ]
    assert dict(description) == before


def test_of_nodes_that_share_a_cluster() -> None:
    nodes = [NodeLines(f"JOB = {name}\nRETRY = 0\n", "") for name in "AB"]
    text, count = shared(split("executable = /bin/true\n"), nodes)
    assert count == 2
    assert of_description(htcondor2.Submit(text), text, written="executable = /bin/true\n") == []


def test_units_are_missed_if_the_administrator_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(htcondor2.param, "SUBMIT_REQUEST_MISSING_UNITS", "Warn")
    description = htcondor2.Submit(WRITTEN)
    found = of_description(description, WRITTEN, by="condor_submit")
    assert "the line 'zork = $(JOB)' was unused by condor_submit. Is it a typo?" in found
    assert any(line.startswith("WARNING: request_memory=1 defaults to megabytes") for line in found)
