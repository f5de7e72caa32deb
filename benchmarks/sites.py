"""What groups of nodes at sites cost: python -m benchmarks.sites

1. A round of matchmaking for many groups that wait, with hundreds of sites, as DAGMan's process for
   requests makes it: expressions of both sides, the choice, the claims on the disk.
2. The engine with a DAG of groups, beside the same DAG without them: processor time and memory from
   its begin to its end, jobs ending at once.

Prints a table; ratios are of one run on one machine.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import median

import classad2

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.sites.adapters.ads import sites_of
from condor_pydagman.features.sites.adapters.claims_directory import ClaimsDirectory
from condor_pydagman.features.sites.adapters.matcher import Groups, Matcher
from condor_pydagman.features.sites.choice import Wanted
from condor_pydagman.features.sites.commands import SitePolicy
from condor_pydagman.features.sites.messages import SiteClaim, SitesMatched
from tests import make

STEPS = 4  # nodes of a group
SITES = 300
WAITING = 3000
POLICY = SitePolicy(
    requirements='TARGET.Grid == "physics" && TARGET.Depth < 500',
    rank="-TARGET.CurMatches * 1.0 / TARGET.MaxMatches",
    failures=3,
)


def round_s(groups: int, sites: int, policies: int) -> float:
    """Seconds that a round takes, the median of 9; every group gets a site."""
    ads = [
        classad2.ClassAd({"Name": f"site{n}", "MaxMatches": groups, "Grid": "physics", "Depth": n})
        for n in range(sites)
    ]
    for ad in ads:
        ad["Requirements"] = classad2.ExprTree('TARGET.Owner != "guest"')
    kinds = [POLICY._replace(wait=1 + n) for n in range(policies)]
    with tempfile.TemporaryDirectory() as place:
        directory = ClaimsDirectory(place, "here", 1, set, print)
        names = [f"g{n}" for n in range(groups)]
        matcher = Matcher(
            Groups("t.dag", names, kinds, [n % policies for n in range(groups)], {"Owner": "ann"}),
            directory=directory,
            query=lambda: sites_of(ads),
            interval_s=1e9,
        )
        wanted = [Wanted(n, n % policies) for n in range(groups)]
        taken = []
        for _ in range(9):
            begun = time.perf_counter()
            found = matcher.round((), wanted, ()).reply
            taken.append(time.perf_counter() - begun)
            assert isinstance(found, SitesMatched) and len(found.claims) == groups
        directory.close()
    return median(taken)


def run_engine(groups: int, *, matched: bool) -> tuple[float, float]:
    """Processor seconds and MB of a DAG of so many groups, from its text to its end."""
    units = [[f"N{unit}x{step}" for step in range(STEPS)] for unit in range(groups)]
    lines = ["; ".join(" -> ".join(unit) for unit in units)]
    if matched:
        lines += [f"SITE_GROUP g{n} NODES {' '.join(unit)}" for n, unit in enumerate(units)]
        lines += [f"SITE_POLICY ALL_GROUPS {key} {value}" for key, value in POLICY.lines()]
    dag = make.dag("\n".join(lines))
    begun = time.process_time()
    _play(Engine(dag, make.QUIET, Throttles()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return time.process_time() - begun, peak


def _play(engine: Engine) -> None:
    """Answer all that the engine asks for, until it exits."""
    cluster, now = 0, 0.0
    todo: list[inputs.Input] = [inputs.Begin(False)]
    while todo:
        fresh: list[inputs.Input] = []
        for an_input in todo:
            now += 0.001
            for action in engine.handle(an_input, now):
                if isinstance(action, do.SubmitNode):
                    cluster += 1
                    name = engine.run.dag.names[action.node]
                    fresh += [
                        inputs.Submitted(action.node, cluster, 1),
                        make.submit(name, cluster),
                        make.terminated(cluster),
                    ]
                elif isinstance(action, do.AppendJournalRecord):
                    fresh.append(_read_back(engine.run.dag.names[action.node], action))
                elif isinstance(action, do.Ask):
                    claims = [SiteClaim(one.group, "s", "d") for one in action.request.wanted]
                    matched = SitesMatched(claims, ("s",), (), ())
                    fresh.append(inputs.Answered(action.helper, matched))
                elif isinstance(action, do.Exit):
                    return
        todo = fresh


def _read_back(name: str, action: do.AppendJournalRecord) -> inputs.LogEvent:
    event = make.record(action.record, name, value=action.value, retry=action.retry)
    return event._replace(text=action.text)


def _alone(groups: int, *, matched: bool) -> tuple[float, float]:
    """As `run_engine`, in a process of its own."""
    code = (
        f"from benchmarks.sites import run_engine; print(*run_engine({groups}, matched={matched}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sites")
    parser.add_argument("--groups", type=int, default=10_000, help="of the DAG")
    options = parser.parse_args(argv)
    for policies in (1, 20):
        taken = round_s(WAITING, SITES, policies)
        print(
            f"a round, {WAITING} groups, {SITES} sites, {policies} policies: {taken * 1e3:.0f} ms"
        )
    plain, with_sites = (_alone(options.groups, matched=matched) for matched in (False, True))
    print(f"{options.groups} groups of {STEPS} nodes, engine: without groups {plain[0]:.2f} s,")
    print(f"  {plain[1]:.0f} MB; with groups {with_sites[0]:.2f} s, {with_sites[1]:.0f} MB:")
    ratios = (with_sites[0] / plain[0], with_sites[1] / plain[1])
    print(f"  {ratios[0]:.2f} times the time, {ratios[1]:.2f} times the memory")
    return 0


if __name__ == "__main__":
    sys.exit(main())
