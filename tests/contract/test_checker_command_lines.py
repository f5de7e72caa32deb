"""condor_dag_checker beside what is recorded of stock, without a pool: the tests of
`tests/pool/test_dag_checker.py` in this process."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from types import SimpleNamespace

import htcondor2
import pytest

from condor_pydagman.cli import dag_checker
from tests import recordings
from tests.pool.stock import Stock
from tests.pool.test_dag_checker import (  # noqa: F401
    test_command_lines,
    test_descriptions_after_their_nodes,
    test_lists_of_common_input_files,
    test_numbers_that_programs_read,
    test_submit_descriptions,
    test_warnings_are_those_of_stock,
)

if recordings.version_in(htcondor2.version()) not in recordings.versions():
    del test_warnings_are_those_of_stock  # the bindings of 25.0 can't read one of the descriptions


class Here:
    """In the place of the pool's access point."""

    def which(self, command: str, *, ours: bool) -> str:
        assert ours
        return command

    def run(self, _command: str, *arguments: str, **_how: object) -> SimpleNamespace:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = dag_checker.main(arguments)
        return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


@pytest.fixture
def access_point() -> Here:
    return Here()


@pytest.fixture
def stock() -> Stock:
    return Stock("dag_checker")


@pytest.fixture
def work(work_directory: Path) -> Path:
    return work_directory
