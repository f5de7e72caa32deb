"""What is warned of in a description, by what the bindings make of it."""

from __future__ import annotations

from pathlib import Path

import htcondor2
import pytest

from condor_pydagman.adapters.submit_checks import remarks_of
from condor_pydagman.config import Config
from condor_pydagman.features.common.shared_description import NodeLines, shared
from condor_pydagman.language.description import template_of
from condor_pydagman.records.job_description import Workflow, describe
from tests import make

WRITTEN = "executable = /bin/true\nzork = $(JOB)\nwarning : hello $(JOB)\nrequest_memory = 1\n"


def test_of_a_nodes_description() -> None:
    text = f"JOB = A\nRETRY = 0\n{WRITTEN}queue x in (1 2)\n"
    description = htcondor2.Submit(text)
    before = dict(description)
    assert remarks_of(description, text, written=WRITTEN, name="a.sub") == [
        "the line 'zork = $(JOB)' was unused by DAGMAN. Is it a typo?",
        "the Queue variable 'x' was unused by DAGMAN. Is it a typo?",
        'Warning "a.sub", Line 3: hello A',
    ]
    assert dict(description) == before


@pytest.mark.parametrize(
    ("line", "body", "warned"),
    [
        ("PREPEND", "if defined nope\nif $(var1)\nendif\nendif\n", True),
        ("PREPEND", "if true\nelif defined var1\nendif\n", True),
        ("PREPEND", "if defined var1\nendif\n", False),
        ("PREPEND", "if defined var1\nendif\nmy.Warning = 1\n", False),
        ("PREPEND", "include : lines\n", False),
        ("PREPEND", "include : {here}/lines\n", False),
        ("PREPEND", "arguments = $ENV(var1)\n", True),
        ("APPEND", "if defined var1\nendif\n", True),
        ("APPEND", "arguments = $(var1)\n", False),
    ],
)
def test_of_a_variable_of_vars(work_directory: Path, line: str, body: str, warned: bool) -> None:
    (work_directory / "lines").write_text("if defined var1\nendif\n")
    written = "executable = /bin/true\n" + body.format(here=work_directory)
    dag = make.dag(f'A\nVARS A {line} var1="true"')
    text = describe(dag, 0, template_of(written), Workflow(7, "/log", Config()))
    found = remarks_of(htcondor2.Submit(text), text, written=written, name="a.sub")
    expected = ["the line 'var1 = true' was unused by DAGMAN. Is it a typo?"]
    assert found == (expected if warned else [])


def test_of_nodes_that_share_a_cluster() -> None:
    nodes = [NodeLines(f"JOB = {name}\nRETRY = 0\n", "") for name in "AB"]
    text, count = shared(template_of("executable = /bin/true\n"), nodes)
    assert count == 2
    assert remarks_of(htcondor2.Submit(text), text, written="executable = /bin/true\n") == []


def test_units_are_missed_if_the_administrator_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(htcondor2.param, "SUBMIT_REQUEST_MISSING_UNITS", "Warn")
    description = htcondor2.Submit(WRITTEN)
    found = remarks_of(description, WRITTEN, by="condor_submit")
    assert "the line 'zork = $(JOB)' was unused by condor_submit. Is it a typo?" in found
    assert any(line.startswith("WARNING: request_memory=1 defaults to megabytes") for line in found)
