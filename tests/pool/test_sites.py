"""Groups of nodes at sites: the monitor, matches, limits, leaving a site, kills, rescue files."""

from __future__ import annotations

from itertools import accumulate

from tests.pool.dagmans import send
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
# It writes 1 when the first job of a group begins, and -1 before the second one ends.
LEDGER = """\
#!/bin/sh
case $1 in *1) echo 1 >> ledger ;; esac
while [ "$4" != no ] && [ ! -e "$4" ]; do sleep 0.1; done
case $1 in *2) echo -1 >> ledger ;; esac
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


def rematch(s: Scene) -> int:
    """The exit code of the command."""
    argv = ("condor_pydagman", "sites", "rematch", "t.dag", "A")
    return s.access_point.run(*argv, cwd=s.work, check=False).returncode


@STAGE.scene
def by_command_across_kills(s: Scene) -> None:
    sites = with_jobs(s, north=9, south=9)
    s.submit(dag_text(s, pair("A", ALWAYS, 'bad="none" wait="go.A"'), "SITE_POLICY A ROUNDS 9\n"))
    for number in range(1, 4):
        s.until(lambda n=number: len(lines(s.work, "at.txt")) == 2 * n, f"match {number}")
        before = s.until(s.pid, "DAGMan")
        s.until(lambda: rematch(s) == 0, "rematch")
        send(before)
    s.until(lambda: len(lines(s.work, "at.txt")) == 8, "match 4")
    s.touch("go.A")
    assert s.ends() == 0
    where = [line.split()[1].partition("-")[0] for line in lines(s.work, "at.txt")]
    assert where[::2] == where[1::2]
    assert all(one != other for one, other in zip(where[::2], where[2::2]))
    assert [line.split()[0] for line in lines(s.work, "ended.txt")] == [*["A1"] * 4, "A2"]
    assert not any(row["groups"] for row in sites.listed().values())


@STAGE.scene
def a_rescue_file_keeps_the_site(s: Scene) -> None:
    sites = with_jobs(s, north=9, south=9)
    s.submit(dag_text(s, pair("A", ALWAYS, 'bad="none" wait="go.A"')))
    s.until(lambda: len(lines(s.work, "at.txt")) == 2, "A2")
    first = lines(s.work, "at.txt")[0].split()[1]
    s.remove()
    assert s.ends() == 2
    s.gone()
    assert f"SITE_MATCHED A {first} 1" in s.text("t.dag.rescue001")
    other = {sites.full("north"), sites.full("south")} - {first}
    sites.write(other.pop().partition("-")[0], 9, "Better = true\n")
    sites.publish()
    s.touch("go.A")
    s.submit_again()
    assert s.ends() == 0
    assert [line.split()[1] for line in lines(s.work, "at.txt")] == [first] * 3


@STAGE.scene
def many_dagmans_share_a_limit(s: Scene) -> None:
    sites = with_jobs(s, north=2)
    (s.work / "at.sh").write_text(LEDGER)
    body = "".join(pair(name, 'bad="none" wait="go"') for name in "ABCD")
    s.submit(dag_text(s, body))
    for name in ("u.dag", "v.dag"):
        (s.work / name).write_text(s.text("t.dag"))
        s.access_point.submit(s.work, name)
    s.until(lambda: groups_at(sites, "north") == 2, "two groups at north", max_pause=1)
    for name in ("t.dag", "u.dag", "v.dag"):
        s.until(lambda n=name: WAITS in s.text(f"{n}.dagman.out"), f"{name} to wait")
    assert groups_at(sites, "north") == 2
    s.touch("go")
    for name in ("t.dag", "u.dag", "v.dag"):
        assert s.access_point.wait(s.work / name).code == 0
    steps = [int(step) for step in lines(s.work, "ledger")]
    assert (len(steps), sum(steps)) == (24, 0)
    assert max(accumulate(steps)) == 2
    assert groups_at(sites, "north") == 0


@STAGE.scene
def two_dags_take_turns_at_a_place(s: Scene) -> None:
    """They look for sites so rarely that each must be told when it is its turn."""
    sites = with_jobs(s, north=1)
    config = s.text("t.config").replace("INTERVAL = 1\n", "INTERVAL = 3600\n")
    (s.work / "t.config").write_text(config)
    first = pair("A", second='bad="none" wait="go"')
    s.submit(dag_text(s, first + "".join(pair(f"A{number}") for number in range(3))))
    s.until(lambda: groups_at(sites, "north") == 1, "the first DAG to have the place", max_pause=1)
    (s.work / "u.dag").write_text(dag_text(s, "".join(pair(f"B{number}") for number in range(4))))
    s.access_point.submit(s.work, "u.dag")
    s.until(lambda: WAITS in s.text("u.dag.dagman.out"), "the second DAG to wait")
    s.touch("go")
    for name in ("t.dag", "u.dag"):
        assert s.access_point.wait(s.work / name).code == 0
    began = [line.split()[0] for line in lines(s.work, "at.txt")]
    assert "".join(name[0] for name in began if name.endswith("1")) == "ABABABAB"


WAITS = "No site yet for group"


def groups_at(sites: Sites, name: str) -> int:
    """How many groups are matched to a site, by `sites list`."""
    return int(sites.listed()[sites.full(name)]["groups"])


@STAGE.scene
def a_site_that_vanishes_and_one_that_never_comes(s: Scene) -> None:
    sites = with_jobs(s, south=9)
    (sites.directory / "south.ad").unlink()
    sites.write("north", 9)
    with sites.monitored():
        s.submit(
            dag_text(
                s,
                pair("A", 'bad="none" wait="go"') + pair("B") + pair("C"),
                "SITE_POLICY A GONE 2\nSITE_POLICY C WAIT 2\n"
                f'SITE_POLICY A REQUIREMENTS TARGET.Name == "{sites.full("north")}"\n'
                f'SITE_POLICY B REQUIREMENTS TARGET.Name == "{sites.full("south")}"\n'
                f'SITE_POLICY C REQUIREMENTS TARGET.Name == "{sites.full("west")}"\n',
            )
        )
        s.until(lambda: "A1" in str(lines(s.work, "at.txt")), "A at north")
    s.says("Group A has to leave site north-.*: its site has had no ad for")
    s.says(r"Group C gets no site: there was none for 2 s \(WAIT 2\)")
    s.says("No site yet for group A: ")
    s.touch("go")
    sites.publish()
    assert s.ends() == 1
    ended = sorted(line.split()[0] for line in lines(s.work, "ended.txt"))
    assert ended == ["A1", "A2", "B1", "B2"]


@STAGE.scene
def the_environment_of_dagman_names_the_site(s: Scene) -> None:
    """The recipe of 2003, without a match: DAGMan is given the site's variables."""
    (s.work / "at.sh").write_text(SCRIPT)
    (s.work / "at.sh").chmod(0o755)
    (s.work / "env.sub").write_text(
        "universe = scheduler\nexecutable = at.sh\n"
        'arguments = "$(JOB) $ENV(SiteName) none no"\nenvironment = "AREA=$ENV(SiteArea)"\nqueue\n'
    )
    s.write("JOB A env.sub\nJOB B env.sub\nPARENT A CHILD B\n")
    s.submit_again("-insert_env", "SiteName=north;SiteArea=/data")
    assert s.ends() == 0
    assert lines(s.work, "at.txt") == ["A north /data", "B north /data"]


test_sites = STAGE.tests()
