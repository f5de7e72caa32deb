"""What happens when the bindings end the process.

Their C++ code calls exit() at a mistake in HTCondor's configuration, while it is imported too: with
1 where the configuration can't be read; before 25.1 with 4 at a value of the wrong type that they
read for themselves (NO_DNS), and at arguments of a macro function ($RANDOM_CHOICE) that make no
sense.  No exception is raised and nothing of Python is cleaned up.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any, Callable

_kept: list[Any] = []  # what C calls must not be freed


def when_bindings_exit(do: Callable[[int], None]) -> None:
    """Have `do` called with the exit code when C code ends this process, not a child of it.

    The process must leave by `os._exit`: after Python's own end there is no Python to call.
    """
    process = os.getpid()

    def call(status: int, _: object) -> None:
        if os.getpid() == process:
            do(status)

    function = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(call)
    _kept.append(function)
    with contextlib.suppress(AttributeError):  # a C library that has none
        ctypes.CDLL(None).on_exit(function, None)
