"""C code that ends the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """\
import ctypes, os
from condor_pydagman.adapters.bindings_exit import when_bindings_exit

def leave(status):
    os.write(1, b"ended with %d" % status)
    os._exit(3)

when_bindings_exit(leave)
child = os.fork()
if not child:
    ctypes.CDLL(None).exit(5)
code = os.waitpid(child, 0)[1] >> 8
os.write(1, b"a child with %d, " % code)
"""


@pytest.mark.parametrize(
    ("end", "said", "code"),
    [
        ("ctypes.CDLL(None).exit(4)", "a child with 5, ended with 4", 3),
        ("os._exit(0)", "a child with 5, ", 0),
    ],
)
def test_we_are_told_of_our_own_process_alone(end: str, said: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + end], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == (said, "", code)
