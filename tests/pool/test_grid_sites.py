"""Sites that are pools of their own: their jobs go there by the grid universe (HTCondor-C)."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from condor_pydagman.pool import Pool
from tests.installation import CHECKOUT
from tests.pool.access_point import new_directory
from tests.pool.scenes import Scene, Stage
from tests.pool.sites import Sites, dag_text, lines
from tests.waiting import LIMIT_S

STAGE = Stage()
EXAMPLE = CHECKOUT / "examples/sites"
NAMES = ("north", "south", "west")
JOB = """\
universe = grid
grid_resource = condor $(MATCH_Schedd) $(MATCH_Pool)
executable = step.sh
arguments = "$(JOB) $(unit) $(go)"
output = $(JOB).out
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
+remote_JobUniverse = 5
+remote_ShouldTransferFiles = "YES"
+remote_WhenToTransferOutput = "ON_EXIT"
queue
"""
# The first node of a unit leaves a file at the site, which the second one needs.
SCRIPT = """\
#!/bin/sh
echo "$1" >> "$AREA/begun.txt"
case $1 in
*1) mkdir "$AREA/$2" || exit 1 ;;
*2) until test -e "$3"; do sleep 0.2; done
    rmdir "$AREA/$2" || exit 1 ;;
esac
echo "$1" >> "$AREA/ended.txt"
echo "from $AREA"
"""
# Its answer is how many jobs wait there; none if the site is dead.
PROBE = """\
#!/bin/sh
jobs=$(condor_status -pool "{pool}" -schedd -af TotalIdleJobs) && test -n "$jobs" &&
    echo "QueueDepth = $jobs"
"""


@contextlib.contextmanager
def pools(s: Scene, names: Sequence[str] = NAMES) -> Iterator[dict[str, Pool]]:
    """A running pool for each site; not in the scene's directory, to which all may write."""
    found = {name: Pool(f"{s.access_point.pool.directory}-{name}") for name in names}
    with ThreadPoolExecutor() as threads:
        try:
            list(threads.map(lambda pool: pool.start(timeout_s=LIMIT_S, slots=4), found.values()))
            yield found
        finally:
            list(threads.map(Pool.stop, found.values()))


def ask(pool: Pool, *argv: str) -> str:
    """What a command says in a pool."""
    command, environment = pool.command(list(argv)), pool.environment()
    return subprocess.check_output(command, env=environment, text=True).strip()


def describe(s: Scene, sites: Sites, name: str, pool: Pool) -> None:
    """The ad of a site, and a probe that asks it."""
    address = ask(pool, "condor_status", "-collector", "-af", "MyAddress")
    schedd = ask(pool, "condor_status", "-schedd", "-af", "Name")
    area = new_directory(s.work / "areas" / name)
    own = f'Pool = "{address}"\nSchedd = "{schedd}"\n'
    sites.write(name, 2, own, area=str(area))
    probe = sites.directory / f"{name}.probe"
    probe.write_text(PROBE.format(pool=address))
    probe.chmod(0o755)


def unit(s: Scene, name: str) -> str:
    """A group of two nodes, of which the second ends when it is told to."""
    more = f'unit="{name}" go="{s.work}/go"'
    return (
        f"JOB {name}1 step.sub\nJOB {name}2 step.sub\nPARENT {name}1 CHILD {name}2\n"
        f"VARS {name}1 {more}\nVARS {name}2 {more}\nSITE_GROUP {name} NODES {name}1 {name}2\n"
    )


def where(s: Scene, what: str) -> dict[str, list[str]]:
    """The nodes that have begun, or ended, at each site."""
    return {name: lines(s.work / "areas" / name, f"{what}.txt") for name in NAMES}


@STAGE.scene
def a_site_dies_in_the_middle(s: Scene) -> None:
    (s.work / "step.sub").write_text(JOB)
    (s.work / "step.sh").write_text(SCRIPT)
    (s.work / "step.sh").chmod(0o755)
    with pools(s) as found:
        sites = Sites(s)
        for name, pool in found.items():
            describe(s, sites, name, pool)
        with sites.monitored() as next_round:
            policy = "SITE_POLICY ALL_GROUPS GONE 2\nSITE_POLICY ALL_GROUPS REMOVAL 3\n"
            policy += "SITE_POLICY ALL_GROUPS RANK -TARGET.QueueDepth\n"
            s.submit(dag_text(s, "".join(unit(s, name) for name in "ABCD"), policy))
            s.until(lambda: sum(map(len, where(s, "begun").values())) == 8, "all of them")
            begun = where(s, "begun")
            (dead,) = (name for name in NAMES if "A2" in begun[name])
            left = {node[0] for node in begun[dead]}
            found[dead].stop()
            next_round()
            for group in left:
                s.says(f"Group {group} has to leave site {dead}-.*: its site has had no ad")
                s.says(f"Warning: site {dead}-.* that jobs of group {group} are removed")
            s.touch("go")
            assert s.ends() == 0
    ended = where(s, "ended")
    assert sorted(ended[dead]) == sorted(f"{group}1" for group in left)
    del ended[dead]
    assert sorted(node for nodes in ended.values() for node in nodes) == [
        f"{group}{n}" for group in "ABCD" for n in "12"
    ]
    for name, nodes in ended.items():
        assert {node[0] for node in nodes if node[1] == "1"} == {
            node[0] for node in nodes if node[1] == "2"
        }, name
        for group in {node[0] for node in nodes}:
            assert s.text(f"{group}2.out") == f"from {s.work}/areas/{name}\n"


def old_ad(s: Scene, pool: Pool) -> str:
    """The example's ad of a site, for this pool."""
    address = ask(pool, "condor_status", "-collector", "-af", "MyAddress")
    schedd = ask(pool, "condor_status", "-schedd", "-af", "Name")
    text = (EXAMPLE / "gatekeeper.ad").read_text()
    text = text.replace("ce.north.example.org ce.north.example.org:9618", f"{schedd} {address}")
    return text.replace("/scratch/units", f"{new_directory(s.work / 'area')}")


def copy_example(directory: Path, unit: str, dag: str) -> None:
    """Copy the example's files; its DAG works on `unit`, and `t.dag` is that or the other one."""
    for path in EXAMPLE.glob("*.*"):
        shutil.copy(path, directory)
    text = (EXAMPLE / "gatekeeper.dag").read_text()
    (directory / "gatekeeper.dag").write_text(text.replace("unit1", unit))
    (directory / "t.dag").write_text(f"CONFIG ../t.config\nINCLUDE {dag}\n")


@STAGE.scene
def the_recipe_of_2003(s: Scene) -> None:
    """A whole DAG at a site, of which DAGMan is told, or which it finds itself."""
    told, finds = (new_directory(s.work / name) for name in ("told", "finds"))
    copy_example(told, "unit1", "gatekeeper.dag")
    copy_example(finds, "unit2", "matched.dag")
    with pools(s, ["gatekeeper"]) as found:
        sites = Sites(s)
        (sites.directory / "x.ad").write_text(old_ad(s, found["gatekeeper"]))
        sites.publish()
        which = ("-any", "-constraint", "Is_X_Site =?= True", "-af", "SiteEnvironment")
        site = s.run("condor_status", *which).strip()
        s.access_point.submit(told, "-insert_env", site, "t.dag")
        s.access_point.submit(finds, "t.dag")
        for directory in (told, finds):
            assert s.access_point.wait(directory / "t.dag").code == 0
    assert (told / "out.out").read_text() == f"DATA OF UNIT1\nfrom {s.work}/area\n"
    assert (finds / "out.out").read_text() == f"DATA OF UNIT2\nfrom {s.work}/area\n"
    said = (finds / "t.dag.dagman.out").read_text()
    assert "Group unit is matched to site x-north" in said
    job = re.search(r"ULOG_SUBMIT for HTCondor Node out \((\d+)\.", said)
    assert job
    assert s.access_point.history(int(job[1]))["MATCH_SiteEnvironment"] == site


test_sites_that_are_pools = STAGE.tests()
