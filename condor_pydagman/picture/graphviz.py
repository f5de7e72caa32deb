"""Graphviz's layout program `dot`: from the Python package pygraphviz, or else from PATH.

The wheels of pygraphviz 2 (x86-64 and arm64, Python 3.10 and newer) contain Graphviz and run it in
this process.  Otherwise the program `dot` of a distribution's package is used.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from condor_pydagman.errors import PydagmanError
from condor_pydagman.picture.dot_layout import RunDot

_END = "\n}\n"  # of each answer


def find_dot() -> RunDot:
    """A function that runs dot.

    Raises:
        PydagmanError: Graphviz is not installed; the message says how to install it.
    """
    try:
        package = importlib.import_module("pygraphviz")
    except ImportError:
        pass
    else:
        return lambda graphs: _in_process(package, graphs)
    program = shutil.which("dot")
    if program is not None:
        return lambda graphs: _by_program(program, graphs)
    raise PydagmanError(
        "draw needs Graphviz, which is not installed. Install the package graphviz of your "
        f"distribution, or: {sys.executable} -m pip install pygraphviz (Python 3.10 or newer)"
    )


def _in_process(package: Any, graphs: Sequence[str]) -> list[str]:
    answers = []
    with _no_warnings():
        for graph in graphs:
            try:
                drawn = package.AGraph(string=graph).draw(format="dot", prog="dot")
            except (ValueError, OSError) as error:
                raise PydagmanError(f"Graphviz could not lay the DAG out: {error}") from None
            answers.append(drawn.decode("utf-8"))
    return answers


@contextlib.contextmanager
def _no_warnings() -> Iterator[None]:
    """Discard warnings of the package and of Graphviz (on descriptor 2) that large graphs take
    long."""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # there may be no descriptor 2
            kept = os.dup(2)
            stack.callback(os.close, kept)
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 2)
            stack.callback(os.dup2, kept, 2)
        yield


def _by_program(program: str, graphs: Sequence[str]) -> list[str]:
    """One process for all graphs: some DAGs have hundreds of parts."""
    if not graphs:
        return []
    try:
        done = subprocess.run(
            [program, "-Tdot"],
            input="".join(graphs),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise PydagmanError(f"can't run {program}: {error.strerror}") from None
    answers = done.stdout.split(_END)[:-1]
    if done.returncode or len(answers) != len(graphs):
        said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise PydagmanError(f"{program} could not lay the DAG out: {said[0]}")
    return answers
