"""The DAGs of short nodes that are measured without bundles and with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import bundle_costs, dags
from benchmarks.bundle_costs import Took
from benchmarks.place import Place
from benchmarks.subjects import BUNDLES

TRUE = "executable = /bin/true\ntransfer_executable = false\n"
SLEEP = "executable = /bin/sleep\ntransfer_executable = false\narguments = {seconds:g}\n"
NO_FILES = "should_transfer_files = NO\n"
FILES = "transfer_input_files = data.txt\noutput = made.$(JOB)\nshould_transfer_files = YES\n"


class Case(NamedTuple):
    """How tables call it, the description of its nodes, the BUNDLE line or ''."""

    title: str
    job: str
    line: str = ""


def cases(seconds: float, length: int = 1) -> Iterator[Case]:
    """What is measured of ours."""
    line = "BUNDLE b CHAINS ALL_NODES\n" if length > 1 else "BUNDLE b ALL_NODES\n"
    plain = (SLEEP.format(seconds=seconds) if seconds else TRUE) + NO_FILES
    yield Case("nodes alone, no file transfer", plain)
    yield Case("in bundles, no file transfer", plain, line)
    if not seconds:
        yield Case("nodes alone, files transferred", TRUE + FILES)
        yield Case("in bundles, files transferred", TRUE + FILES, line)


def chained() -> dict[str, Case]:
    """Those in bundles, with CHAINS, by subject."""
    return dict(zip(BUNDLES, (case for case in cases(0.0, length=2) if case.line)))


def run_case(place: Place, case: Case, number: int, length: int = 1) -> tuple[Took, Path]:
    """Run so many chains of it, each of so many nodes; returns the directory as well."""
    directory = place.new_directory("bundles")
    dags.chains(number, length, case.job).write(directory)
    (directory / "data.txt").write_text("data\n", encoding="ascii")
    dag = directory / dags.NAME
    dag.write_text(case.line + dag.read_text(encoding="ascii"), encoding="ascii")
    return bundle_costs.run(place, directory, number * length), directory
