"""The jobs of every submit file in tests/submit_corpus, under our DAGMan, are those that stock's
makes of it; and the recording of those still is what stock makes.

Also: whom the jobs are charged to, for every way that an accounting group can come; and odd names.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import recordings
from tests.corpora import submit_files
from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.stock import Stock, plain
from tools.record_submit_corpus import FILE, lay_out, made, reduced

RECORDED: dict[str, Any] = recordings.load(FILE)
# Enough for a change in stock to show; it needs a second for each file that it refuses.
_MADE = [name for name in RECORDED if "jobs" in RECORDED[name]]
_REFUSED = [name for name in RECORDED if "error" in RECORDED[name]]
SAMPLE = sorted({"queue-none", *_MADE[::3], *_REFUSED[::16]})

GROUPS = ("AccountingGroup", "AcctGroup", "AcctGroupUser", "NiceUser")
GROUP_DAG = """\
SUBDAG EXTERNAL S {name}.inner
JOB A a.sub
JOB V a.sub
VARS V accounting_group="v.w"
JOB U a.sub
VARS U APPEND accounting_group="v.w" accounting_group_user="eva"
JOB N a.sub
VARS N nice_user="true"
"""
INNER = "JOB B a.sub\n"
HELD = "executable = /bin/sleep\narguments = 600\nhold = true\nqueue\n"
DAGS: dict[str, tuple[list[str], str]] = {
    "none": ([], ""),
    "append": (["-append", "accounting_group = g.h"], ""),
    "user": (["-append", "accounting_group=g.h", "-append", "accounting_group_user=eva"], ""),
    "nice": (["-append", "nice_user = true"], ""),
    "attribute": ([], 'SET_JOB_ATTR AcctGroup = "p.q"\n'),
    "inherited": ([], "CONFIG inherit\n"),
}
INHERITED = ["-append", "accounting_group = g.h"]


@pytest.fixture(scope="module")
def submitted(access_point: AccessPoint, place: Path) -> dict[str, dict[str, Any]]:
    """What the programs make of the cases, by program."""
    home = new_directory(place / "submit_corpus")
    with ThreadPoolExecutor(2) as pool:
        stock = pool.submit(made, access_point, home / STOCK, SAMPLE, stock=True)
        ours = pool.submit(made, access_point, home / OURS, list(submit_files()), stock=False)
        return {STOCK: reduced(stock.result()), OURS: reduced(ours.result())}


def test_the_recording_still_holds(submitted: dict[str, dict[str, Any]]) -> None:
    assert submitted[STOCK] == {name: RECORDED[name] for name in SAMPLE}


@pytest.mark.parametrize("topic", sorted({name.partition("-")[0] for name in RECORDED}))
def test_jobs_are_those_of_stock(submitted: dict[str, dict[str, Any]], topic: str) -> None:
    apart = {}
    for name, stock in RECORDED.items():
        ours = submitted[OURS].get(name)
        same = ours == stock
        if ours and "error" in ours and "error" in stock:  # in other words, and true ones
            same = "parse_up_to_q_line" not in ours["error"]
        if name.startswith(f"{topic}-") and not same:
            apart[name] = {STOCK: stock, OURS: ours}
    assert not apart, json.dumps(apart, indent=1)


def test_condor_submit_charges_the_same(access_point: AccessPoint, work: Path) -> None:
    names = [name for name in RECORDED if name.startswith("group-") and "jobs" in RECORDED[name]]
    assert len(names) > 10
    lay_out(names, work / "cases")
    user = access_point.run("id", "-un").stdout.strip()
    for name in names:
        command = ["condor_submit", "-dry-run", "-", f"{name}.sub"]
        text = access_point.run(*command, cwd=work / "cases").stdout
        for attribute in GROUPS[:3]:
            found = re.search(rf"^{attribute}=(.*)$", text, re.M)
            value = json.loads(found[1]) if found else None
            recorded = RECORDED[name]["jobs"][0].get(attribute)
            assert value == (recorded and recorded.replace("USER", user)), (name, attribute)


def charged(access_point: AccessPoint, work: Path, flavour: str) -> dict[str, Any]:
    """Groups of all jobs of the DAGs under a program, by DAG and node; DAGMan's own is ''."""
    (work / "a.sub").write_text(HELD)
    (work / "inherit").write_text("DAGMAN_INHERIT_ATTRS = AccountingGroup, AcctGroup\n")
    clusters: dict[int, str] = {}
    stock = flavour == STOCK
    dagman = access_point.stock_dagman if stock else access_point.our_dagman
    for name, (words, head) in DAGS.items():
        dags.write(work, head + GROUP_DAG.format(name=name))
        (work / "t.dag").rename(work / f"{name}.dag")
        (work / f"{name}.inner").write_text(INNER)
        more = INHERITED if name == "inherited" else words
        job = access_point.submit(work, "-dagman", dagman, *more, f"{name}.dag", stock=stock)
        clusters[job] = name
    try:
        return _groups(access_point, clusters)
    finally:
        access_point.run("condor_rm", *map(str, clusters), check=False)


def _groups(access_point: AccessPoint, names: dict[int, str]) -> dict[str, Any]:
    user = access_point.run("id", "-un").stdout.strip()

    def masked(value: Any) -> Any:
        return re.sub(rf"\b{user}\b", "USER", value) if isinstance(value, str) else value

    def look() -> dict[str, Any] | None:
        owners = dict(names)
        ads = sorted(access_point.queue(), key=lambda ad: int(ad["ClusterId"]))
        found: dict[str, Any] = {}
        for ad in ads:
            above = ad.get("DAGManJobId", ad["ClusterId"])
            if above in owners:
                node = ad.get("DAGNodeName", "")
                if node == "S":
                    owners[ad["ClusterId"]] = owners[above]
                groups = {name: masked(ad.get(name)) for name in GROUPS}
                found[f"{owners[above]} {node}"] = groups
        return found if len(found) == len(names) * 7 else None

    found: dict[str, Any] = access_point.wait_for(look, say="jobs with groups")
    return found


def test_accounting_groups_from_every_source_are_used(
    access_point: AccessPoint, work: Path, stock: Stock
) -> None:
    ours = charged(access_point, new_directory(work / OURS), OURS)
    expected = stock("groups", lambda: charged(access_point, new_directory(work / STOCK), STOCK))
    assert plain(ours) == expected
    assert ours["append A"]["AccountingGroup"] == "g.h.USER"
    assert ours["append B"]["AccountingGroup"] == "g.h.USER"
    assert ours["none A"]["AccountingGroup"] is None


ODD_NAMES = r"""JOB a\ a.sub
JOB "q\"r" a.sub
JOB $(JOB) a.sub
JOB $$(Arch) "odd $x\\.sub"
PARENT a\ "q\"r" $(JOB) CHILD $$(Arch)
VARS a\ v=" x\\"
RETRY a\ 1
"""


def test_names_and_paths_reach_the_schedd_as_they_are(
    access_point: AccessPoint, work: Path
) -> None:
    directory = new_directory(work / "p $(JOB) a$$b\\")
    job = "universe = scheduler\nexecutable = /bin/true\narguments = $(v)\nqueue\n"
    for name in ("a.sub", "odd $x\\.sub"):
        (directory / name).write_text(job)
    (directory / "t.dag").write_text(ODD_NAMES)
    cluster = access_point.submit(directory, "t.dag")
    access_point.wait_for(lambda: access_point.gone(cluster), say="the end of the DAG")
    assert access_point.history(cluster)["ExitCode"] == 0
    said = access_point.run(
        "condor_history", "-constraint", f"DAGManJobId == {cluster}", "-json",
        "-attributes", "DAGNodeName,DAGManNodesLog,DAGParentNodeNames",
    ).stdout  # fmt: skip
    jobs = {ad["DAGNodeName"]: ad for ad in json.loads(said)}
    assert jobs.keys() == {"a\\", '"q"r"', "$(JOB)", "$$(Arch)"}
    assert jobs["$$(Arch)"]["DAGParentNodeNames"] == 'a\\,"q"r",$(JOB)'
    assert {ad["DAGManNodesLog"] for ad in jobs.values()} == {f"{directory}/./t.dag.nodes.log"}
