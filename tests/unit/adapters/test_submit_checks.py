"""What condor_submit looks at before it submits: compared with 25.14.1 on a pool."""

from __future__ import annotations

from pathlib import Path

import htcondor2
import pytest

from condor_pydagman.adapters.submit_checks import check_executable as check
from condor_pydagman.errors import PoolError


def checked(*lines: str, queue: str = "queue") -> None:
    text = "\n".join([*lines, queue, ""])
    check(htcondor2.Submit(text))


@pytest.mark.parametrize(
    "lines",
    [
        ["executable = nope"],
        ["cmd = nope"],
        ["executable = /nowhere/x", "universe = docker", "docker_image = x"],
        ["executable = nope", "universe = container", "container_image = x"],
        ["executable = nope", "universe = local"],
        ["executable = nope.class", "universe = java"],
        ["executable = nope", "universe = grid", "grid_resource = batch slurm"],
        ["executable = nope", "skip_filechecks = true"],
        ["executable = $(x)pe", "x = no"],
        ["executable = there", "initialdir = /", "executable = nope"],
    ],
)
def test_an_executable_that_is_not_there(lines: list[str]) -> None:
    with pytest.raises(PoolError, match=r"Can't access executable file .*: No such file") as caught:
        checked(*lines)
    assert caught.value.transient


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["executable = nope", "transfer_executable = False"],
        ["executable = nope", "shell = echo"],
        ["executable = label", "universe = vm"],
        ["executable = label", "universe = grid", "grid_resource = ec2 https://a"],
        ["executable = https://a/b"],
        ["executable = /bin/sh", "input = nope", "transfer_input_files = nope"],
        ["executable = /bin/sh", "output = /nowhere/out", "initialdir = /nowhere"],
    ],
)
def test_what_is_not_looked_at(lines: list[str]) -> None:
    checked(*lines)


def test_it_is_looked_for_in_the_present_directory_and_not_in_initialdir(
    work_directory: Path,
) -> None:
    (work_directory / "x").write_text("no program, but it can be read")
    checked("executable = x", "initialdir = /")
    with pytest.raises(PoolError, match="file sh:"):
        checked("executable = sh", "initialdir = /bin")


def test_that_of_every_proc_is_looked_at() -> None:
    checked("executable = /bin/$(x)", queue="queue x in (sh cat)")
    with pytest.raises(PoolError, match="/bin/nope"):
        checked("executable = /bin/$(x)", queue="queue x in (sh nope)")
