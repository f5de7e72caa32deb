"""Programs that start condor_dagman themselves, as CMS CRAB does: a script in the scheduler
universe that gives it abbreviated options in a letter case of its own. CRAB is not on PyPI, so this
is its way of starting, not the program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import classad2
import htcondor2
import pytest

from tests.clients.client import FLAVOURS, Client, directory
from tests.pool import dags
from tests.pool.access_point import OURS, STOCK

DAG = """\
JOB A job.sub
JOB B job.sub
VARS B program="first.sh" code="9"
RETRY B 2 UNLESS-EXIT 2
SCRIPT PRE A script.sh 0 pre $RETRY
SCRIPT DEFER 4 1 POST A later4.sh $RETRY
SCRIPT POST B script.sh $RETURN post $RETRY $MAX_RETRIES
PARENT A CHILD B
NODE_STATUS_FILE t.status 1 ALWAYS-UPDATE
#== later4.sh
#!/bin/sh
echo "deferred $1" >> scripts
mkdir deferred 2>/dev/null && exit 4
exit 0
"""
START = """\
#!/bin/sh
export _CONDOR_DAGMAN_LOG=$PWD/$1.dagman.out
export _CONDOR_MAX_DAGMAN_LOG=0
exec nice -n 1 condor_dagman -f -l . -Lockfile $PWD/$1.lock -autoresc 1 -DORESCUE 0 \\
    -maxpr 20 -MaxI 1000 -maxpo 15 -dag $PWD/$1 -Dagman condor_dagman -Suppress \\
    -Csd "$CONDOR_VERSION" -deb 4 -verb
"""
SUBMIT = """\
universe = scheduler
executable = start.sh
arguments = t.dag
log = t.dag.dagman.log
output = start.out
error = start.err
environment = "PATH={path} CONDOR_CONFIG={config} CONDOR_VERSION='$CondorVersion: {version} $'"
remove_kill_sig = SIGUSR1
+OtherJobRemoveRequirements = "DAGManJobId =?= $(cluster)"
on_exit_remove = ExitSignal =?= 11 || (ExitCode >= 0 && ExitCode <= 2)
queue
"""
# CRAB's schedds are older than the bindings here, or newer.
VERSIONS = {
    "own": "",
    "older": "10.0.9 2023-09-28 BuildID: 1",
    "newer": "31.0.1 2031-01-01 BuildID: 9",
}


@dataclass
class Started:
    """A DAG that a script has started; `code` is condor_dagman's."""

    path: Path
    code: int

    def text(self, name: str) -> str:
        return (self.path / name).read_text()


@pytest.fixture(scope="module")
def started(client: Client, place: Path) -> dict[tuple[str, str], Started]:
    """The DAG, run to its end, started by scripts of several versions of HTCondor."""
    made = {}
    for flavour in FLAVOURS:
        for version, text in VERSIONS.items():
            path = directory(place, "started", flavour, version)
            dags.write(path, DAG)
            (path / "start.sh").write_text(START)
            (path / "start.sh").chmod(0o755)
            words = {"path": client.path(flavour), "version": text or _version()}
            words["config"] = client.access_point.environment["CONDOR_CONFIG"]
            (path / "start.sub").write_text(SUBMIT.format(**words))
            client.run(flavour, "condor_submit", "start.sub", cwd=path)
            made[flavour, version] = path
    wait = client.access_point.wait
    return {key: Started(path, wait(path / "t.dag").code) for key, path in made.items()}


def _version() -> str:
    return str(htcondor2.version()).strip("$ ").partition(": ")[2]


@pytest.mark.parametrize("version", VERSIONS)
def test_it_runs_as_stock_does(started: dict[tuple[str, str], Started], version: str) -> None:
    ours, stock = started[OURS, version], started[STOCK, version]
    assert ours.code == stock.code == 0, ours.text("start.err")
    assert dags.runs(ours.path) == dags.runs(stock.path)
    assert dags.scripts(ours.path) == dags.scripts(stock.path)
    assert dags.scripts(ours.path).count("deferred 0") == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_the_node_status_file(started: dict[tuple[str, str], Started], version: str) -> None:
    """Read as CRAB does, with the bindings."""
    found = {}
    for flavour in FLAVOURS:
        ads = classad2.parseAds(started[flavour, version].text("t.status"))
        found[flavour] = [
            {k: v for k, v in ad.items() if not re.search("Time|Update", k)} for ad in ads
        ]
    for ads in found.values():
        ads[0].pop("DagFiles")
    assert found[OURS] == found[STOCK]


def test_the_options_have_been_understood(started: dict[tuple[str, str], Started]) -> None:
    for flavour in FLAVOURS:
        out = started[flavour, "own"].text("t.dag.dagman.out")
        assert re.search(r"Maximum Post Scripts-+: 15$", out, re.M), flavour
        assert re.search(r"Maximum Pre Scripts-+: 20$", out, re.M), flavour
