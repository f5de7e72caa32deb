"""Bundles where not all is as it should be: machines without Python, a disk that is full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pool import dags
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.bundle_scenes import KNOBS, TASK
from tests.pool.conftest import running_pool
from tests.torture.disturbances import DISK

NAMES = "ABCDEF"
# Runs a job where the paths of Python are those of a file that can't be run.
WRAPPER = """\
#!/bin/sh
exec unshare -rm sh -c '
for python in /usr/bin/python3 /usr/local/bin/python3; do
    test -e "$python" && mount --bind /dev/null "$python"
done
PATH=/bin
export PATH
exec "$0" "$@"
' "$@"
"""


@pytest.fixture(scope="module")
def no_python(place: Path) -> Iterator[AccessPoint]:
    """An access point with machines without Python."""
    directory = place / "no-python"
    directory.mkdir()
    wrapper = directory / "wrapper"
    wrapper.write_text(WRAPPER)
    wrapper.chmod(0o755)
    with running_pool(directory / "pool", f"USER_JOB_WRAPPER = {wrapper}\n") as pool:
        yield AccessPoint(pool)


def _write(work: Path, transfer: str, home: Path | None = None) -> None:
    """A DAG whose nodes have the ledger and what they do in `home`."""
    jobs = "".join(f"JOB {name} task.sub\n" for name in NAMES)
    files = TASK.replace("HOME", str(home or work)).replace("TRANSFER", transfer)
    dags.write(work, f"CONFIG knobs\nBUNDLE b SIZE 3 ALL_NODES\n{jobs}{files}{KNOBS}")


@pytest.mark.parametrize("transfer", ["NO", "YES"])
def test_nodes_run_alone_on_machines_without_python(
    no_python: AccessPoint, work: Path, transfer: str
) -> None:
    _write(work, transfer)
    no_python.submit(work, "t.dag")
    assert no_python.wait(work / "t.dag").code == 0
    assert dags.runs(work) == {f"{name} 0": 1 for name in NAMES}
    said = (work / "t.dag.dagman.out").read_text()
    assert "its job has ended with status 127: The runner of a bundle needs Python 3.6" in said


def test_a_disk_that_a_task_fills(access_point: AccessPoint, work: Path) -> None:
    """Results can't be written any more, nor can HTCondor write the end of the job into the log:
    what has ended before has ended."""
    home = new_directory(work.with_name(f"{work.name}-home"))
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0777", "bundles", str(work)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    ballast = work / "ballast"
    try:
        _write(work, "NO", home)
        once = f"mkdir {home}/first.B && head -c {DISK} /dev/zero > {ballast}\n"
        (home / "B.does").write_text(once)
        access_point.submit(work, "t.dag")
        of_bundle = "DAGManBundleNodes =!= undefined"
        dag = work / "t.dag"
        access_point.wait_for(lambda: dags.runs(home)["B 0"], "B", dag)
        access_point.wait_for(lambda: not access_point.queue(of_bundle), "the job's end", dag)
        os.truncate(ballast, 0)
        code = access_point.wait(dag).code
        assert code == 0, (work / "t.dag.dagman.out").read_text()
        runs = dags.runs(home)
        assert set(runs) == {f"{name} 0" for name in NAMES}
        assert runs["A 0"] == 1
        assert max(runs.values()) <= 2  # a line may have had room in the page that the file had
    finally:
        subprocess.run(["umount", "-l", str(work)], check=True)
