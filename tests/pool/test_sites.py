"""Groups of nodes at sites: the monitor, matches, limits."""

from __future__ import annotations

from tests.pool.scenes import Scene, Stage
from tests.pool.sites import Sites, dag_text, lines

STAGE = Stage()
# The job writes where it runs; it fails at the sites in $(bad), and waits for the file in $(wait).
JOB = """\
universe = scheduler
executable = at.sh
arguments = "$(JOB) $(MATCH_Name) $(bad) $(wait)"
queue
"""
SCRIPT = """\
#!/bin/sh
echo "$1 $2 $AREA" >> at.txt
case " $3 " in *"-$2-"*) exit 1 ;; esac
while [ "$4" != no ] && [ ! -e "$4" ]; do sleep 0.1; done
echo "$1 $2" >> ended.txt
"""
ALWAYS = 'bad="none" wait="no"'


def with_jobs(s: Scene, **most: int) -> Sites:
    """Sites, and what the nodes of DAGs run there."""
    (s.work / "at.sub").write_text(JOB)
    (s.work / "at.sh").write_text(SCRIPT)
    (s.work / "at.sh").chmod(0o755)
    return Sites(s, **most)


def pair(name: str, first: str = ALWAYS, second: str = ALWAYS) -> str:
    """A group of two nodes, NAME1 and NAME2."""
    return (
        f"JOB {name}1 at.sub\nVARS {name}1 {first}\nJOB {name}2 at.sub\nVARS {name}2 {second}\n"
        f"PARENT {name}1 CHILD {name}2\nSITE_GROUP {name} NODES {name}1 {name}2\n"
    )


@STAGE.scene
def groups_run_at_their_sites(s: Scene) -> None:
    sites = with_jobs(s, north=2, south=1)
    held = 'bad="none" wait="go.all"'
    (s.work / "pre.sh").write_text('#!/bin/sh\necho "$MATCH_Name $AREA" > $1.txt\n')
    (s.work / "pre.sh").chmod(0o755)
    body = "".join(pair(name, held) for name in "ABCD") + "SCRIPT PRE A2 pre.sh $JOB\n"
    s.submit(dag_text(s, body))
    s.until(lambda: len(lines(s.work, "at.txt")) == 3, "three matches")
    s.says("No site yet for group D")
    rows = sites.listed()
    assert [rows[sites.full(name)]["groups"] for name in ("north", "south")] == [2, 1]
    assert sum(row["running"] for row in rows.values()) == 3
    assert rows[sites.full("north")]["dags"] == [str(s.work / "t.dag")]
    s.touch("go.all")
    assert s.ends() == 0
    where = [line.split() for line in lines(s.work, "at.txt")]
    for name in "ABCD":
        (site,) = {site for node, site, _ in where if node[0] == name}
        assert site.endswith(f"-{s.work.name}")
    assert all(area == f"/{site.partition('-')[0]}" for _, site, area in where)
    assert [f"A2 {line}" for line in lines(s.work, "A2.txt")] == [
        line for line in lines(s.work, "at.txt") if line.startswith("A2 ")
    ]
    assert not any(row["groups"] for row in sites.listed().values())
    assert not list((s.work / "claims").glob("claims.*"))


test_sites = STAGE.tests()
