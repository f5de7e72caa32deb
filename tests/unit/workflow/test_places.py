"""Which line of a program has said something, also in the cells of a notebook."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from condor_pydagman import DagError
from condor_pydagman.workflow.workflow import Workflow

CELL = "# a cell\nflow.job('PARENT', 'x.sub')\n"


def run(file: str) -> str:
    """What is said of a mistake in the second line of a program of that file."""
    with pytest.raises(DagError) as caught:
        exec(compile(CELL, file, "exec"), {"flow": Workflow(), "__name__": "__main__"})
    return str(caught.value.errors[0].place)


@pytest.mark.parametrize(
    "file", ["/tmp/ipykernel_12/3456.py", "<ipython-input-3-0123456789ab>", "/tmp/xpython_1/5.py"]
)
def test_a_cell_is_named_as_in_the_notebook(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {file: ("Cell", "In[3]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert run(file) == "Cell In[3]:2"
    assert run("my.py") == "my.py:2"


def test_a_shell_that_knows_no_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert run("<stdin>") == "<stdin>:2"
