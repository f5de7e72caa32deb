"""None outlives what the bindings take away from it."""

from __future__ import annotations

import subprocess
import sys

from condor_pydagman.adapters import schedd

MANY_SUBMITS = """
import ctypes
from condor_pydagman.adapters.schedd import ScheddAdapter

adapter = ScheddAdapter(0)
take_away = ctypes.pythonapi.Py_DecRef
take_away.argtypes = [ctypes.py_object]
for _ in range(50_000):
    take_away(None)
"""


def test_a_dagman_outlives_what_many_submits_take_away() -> None:
    """Without the mend a Python below 3.12 aborts here."""
    done = subprocess.run([sys.executable, "-c", MANY_SUBMITS], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_none_is_given_plenty_once() -> None:
    schedd.keep_none_alive()
    before = sys.getrefcount(None)
    schedd.keep_none_alive()
    assert before - 1000 < sys.getrefcount(None) < before + 1000
