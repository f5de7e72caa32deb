"""A site that is a Slurm: jobs of its groups go there by the grid universe and HTCondor's blahp."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from condor_pydagman.pool import apt
from tests.installation import CHECKOUT
from tests.pool.access_point import new_directory
from tests.pool.scenes import Scene, Stage
from tests.pool.sites import Sites, dag_text
from tests.servers.slurm import QUEUE, Slurm

pytestmark = [
    pytest.mark.pool,
    pytest.mark.skipif(not apt.available(), reason="Slurm is fetched with apt-get"),
]

STAGE = Stage()
EXAMPLE = CHECKOUT / "examples/sites"
DAG = "SPLICE u1 unit.dag\nSITE_GROUP u1 SPLICE u1\n"


def describe(s: Scene, slurm: Slurm, area: Path) -> None:
    """Publish the Slurm as a site; its probe says how many jobs wait there."""
    sites = Sites(s)
    sites.write("slurm", 1, f'Queue = "{QUEUE}"\n', area=str(area))
    probe = sites.directory / "slurm.probe"
    squeue = f"{slurm.directory}/bin/squeue -h -t PENDING -o %i"
    probe.write_text(f'#!/bin/sh\njobs=$({squeue}) || exit\nset -- $jobs\necho "QueueDepth = $#"\n')
    probe.chmod(0o755)
    sites.publish()


@STAGE.scene
def a_group_at_a_slurm(s: Scene) -> None:
    shutil.copy(EXAMPLE / "step.sh", s.work)
    shutil.copy(EXAMPLE / "slurm.sub", s.work / "step.sub")
    (s.work / "unit.dag").write_text((EXAMPLE / "unit.dag").read_text() + "RETRY run 9\n")
    area = new_directory(s.work / "area")
    (area / "broken").touch()
    pool = s.access_point.pool
    slurm = Slurm(Path(f"{pool.directory}-slurm"), pool)
    with slurm.running():
        release = Path((pool.directory / "release").read_text().strip())
        slurm.blahpd(pool.directory / "bin/blahpd", release)
        describe(s, slurm, area)
        s.submit(dag_text(s, DAG))
        s.says(r"Node u1\+run job proc .* failed with status 1")
        (area / "broken").unlink()
        assert s.ends() == 0
        jobs = slurm.ask("scontrol", "show", "job")
    states = Counter(re.findall(r"JobState=(\w+)", jobs))
    assert states.pop("COMPLETED") == 4
    assert list(states) == ["FAILED"]
    assert set(re.findall(r"Partition=(\w+)", jobs)) == {QUEUE}
    assert s.text("u1+out.out") == f"DATA OF U1\nfrom {area}\n"


test_slurm = STAGE.tests()
