"""A limit that the administrator applies to all DAGs, and what of it binds a user who evades it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest

from tests.pool import waiting
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.conftest import running_pool
from tests.pool.test_limits import JOB, SCRIPT

pytestmark = pytest.mark.long  # a pool of its own

MOST, QUEUE = 2, 6  # jobs of all DAGs, and jobs of a user in the queue
# Those of docs/limits.md, "What binds".
KNOBS = f"""
PYDAGMAN_SHARED_LIMITS = few = JOBS {MOST}
PYDAGMAN_APPLIED_LIMITS = few ALL; fwe ALL
PYDAGMAN_LIMITS_DIR = {{limits}}
SUBMIT_REQUIREMENT_NAMES = KEEPS_TO_LIMITS
SUBMIT_REQUIREMENT_KEEPS_TO_LIMITS = \\
    DAGManJobId is undefined || stringListIMember("few", PYDAGMAN_AppliedLimits ?: "")
SUBMIT_REQUIREMENT_KEEPS_TO_LIMITS_REASON = "the jobs of a DAG must keep to the limit few"
DAGMAN_MAX_SUBMIT_ATTEMPTS = 1
"""
MORE_KNOBS = f"MAX_JOBS_PER_OWNER = {QUEUE}\n"
BY_HAND = 'My.PYDAGMAN_AppliedLimits = "few"\n'


@contextlib.contextmanager
def running(place: Path, more: str = "") -> Iterator[AccessPoint]:
    """An access point where the limit is applied to all DAGs."""
    limits = new_directory(place / "limits")
    limits.chmod(0o1777)
    with running_pool(place / "pool", KNOBS.format(limits=limits) + more) as pool:
        yield AccessPoint(pool)


@pytest.fixture(scope="module")
def ap(place: Path) -> Iterator[AccessPoint]:
    with running(place / "applied") as access_point:
        yield access_point


def lay_out(work: Path, nodes: int, *, lines: str = "", description: str = "") -> None:
    """A DAG whose jobs go on until there is a file `go`."""
    (work / "short.sub").write_text(description + JOB)
    (work / "short.sh").write_text(SCRIPT)
    (work / "short.sh").chmod(0o755)
    jobs = (f'JOB N{n} short.sub\nVARS N{n} until="go"\n' for n in range(nodes))
    (work / "t.dag").write_text(lines + "".join(jobs))


def counts(work: Path) -> list[int]:
    """How many jobs ran, after each start and end."""
    ledger = work / "ledger"
    text = ledger.read_text() if ledger.exists() else ""
    return [*accumulate(int(line.split()[0]) for line in text.splitlines())]


def test_it_holds_for_a_dag_that_does_not_name_it(ap: AccessPoint, work: Path) -> None:
    lay_out(work, 5)
    done = ap.run("condor_submit_dag", "t.dag", cwd=work, loaded=True)
    assert f"Note: shared limit few applies to this DAG (JOBS {MOST};" in done.stderr
    assert "Warning: PYDAGMAN_APPLIED_LIMITS: fwe is not defined" in done.stderr
    out = work / "t.dag.dagman.out"
    waiting.until(lambda: counts(work) == [1, 2], "two jobs", work / "t.dag")
    waiting.until(lambda: "wait for shared limit few" in out.read_text(), "the others to wait")
    assert f"Note: shared limit few applies to this DAG (JOBS {MOST};" in out.read_text()
    assert '"LIMITS_APPLIED"' in (work / "t.dag.nodes.log").read_text()
    told = " ".join(ap.run("condor_pydagman", "explain", "t.dag", cwd=work).stdout.split())
    assert (
        "3 nodes are waiting for the shared limit few, which is applied by the administrator:"
        " 2 of 2 jobs are in use, 2 by this DAG" in told
    )
    seen = ap.run("condor_pydagman", "watch", "--once", "t.dag", cwd=work).stdout
    assert "shared limit few (applied by the administrator): 2 of 2 jobs in use" in seen
    ads = ap.queue("DAGManJobId =!= undefined")
    assert [ad["PYDAGMAN_AppliedLimits"] for ad in ads] == ["few", "few"]
    (work / "go").touch()
    assert ap.wait(work / "t.dag").code == 0
    assert len(counts(work)) == 10 and max(counts(work)) == MOST


@pytest.mark.parametrize("how", ["the stock program", "a knob in DAGMan's environment"])
def test_a_dagman_without_it_gets_no_job(ap: AccessPoint, work: Path, how: str) -> None:
    stock = how == "the stock program"
    lay_out(work, 3, lines="" if stock else "ENV SET _CONDOR_PYDAGMAN_APPLIED_LIMITS=;\n")
    ap.submit(work, "t.dag", stock=stock)
    assert ap.wait(work / "t.dag").code == 1
    assert "must keep to the limit few" in (work / "t.dag.dagman.out").read_text()
    assert counts(work) == []


def test_who_forges_the_attribute_passes_and_the_schedds_own_limit_binds(
    place: Path, work: Path
) -> None:
    lay_out(work, QUEUE, description=BY_HAND)
    with running(place / "forging", MORE_KNOBS) as ap:
        forges(ap, work)


def forges(ap: AccessPoint, work: Path) -> None:
    ap.submit(work, "t.dag", stock=True)
    log = work / "t.dag.dagman.out"
    waiting.until(lambda: counts(work)[-1:] == [QUEUE - 1], "all that the schedd takes")
    refusal = "expected next ProcId to be 0, but Schedd says -3"  # MAX_JOBS_PER_OWNER
    waiting.until(lambda: refusal in log.read_text(), "a refusal")
    assert len(ap.queue()) == QUEUE > MOST
    refused = ap.run("condor_submit", "short.sub", cwd=work, check=False)
    assert refused.returncode == 1
    assert "MAX_JOBS_PER_OWNER" in refused.stderr
    (work / "go").touch()
    assert ap.wait(work / "t.dag").code == 1
    assert max(counts(work)) == QUEUE - 1


def test_jobs_that_are_of_no_dag_are_not_asked(ap: AccessPoint, work: Path) -> None:
    lay_out(work, 0, description="JOB = A\nuntil = go\n")
    (work / "go").touch()
    ap.run("condor_submit", "short.sub", cwd=work)
    waiting.until(lambda: len(counts(work)) == 2, "the job to run")


def test_who_names_another_directory_is_alone_in_it(ap: AccessPoint, work: Path) -> None:
    first, other, alone = (new_directory(work / name) for name in ("a", "b", "places"))
    alone.chmod(0o1777)
    (other / "c").write_text(f"PYDAGMAN_LIMITS_DIR = {alone}\n")
    lay_out(first, MOST)
    lay_out(other, MOST, lines="CONFIG c\n")
    for directory in (first, other):
        ap.submit(directory, "t.dag")
    waiting.until(lambda: counts(first)[-1:] == counts(other)[-1:] == [MOST], "twice the limit")
    for directory in (first, other):
        (directory / "go").touch()
        assert ap.wait(directory / "t.dag").code == 0
