"""A DAG for every point at which DAGMan can be killed, and for every way in which a file can fail.

    python -m tests.torture.each_point [NAME...]       all of them, or those whose names begin so

The DAGs hold every kind of action.  Each is run by a DAGMan with one fault in it (`faults.py`),
some at a time; the schedd starts DAGMan again, and what ran is counted: every job once, none lost,
and the end that the DAG must have.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.pool import dags
from tests.pool.access_point import AccessPoint
from tests.torture import faults
from tests.torture.faults import KILL, LOSE, POINTS, REFUSE, Fault
from tests.torture.world import started, until

AT_ONCE = 8
TWICE = 2  # how often a script that ran while DAGMan died may run

RECORDS = """\
NODE_STATUS_FILE t.status 1
JOBSTATE_LOG t.jobstate.log
DOT t.dot UPDATE OVERWRITE
"""
# Whatever DAGMan can do in a DAG that succeeds.
WHOLE = f"""\
PROVISIONER P provisioner.sub
JOB A job.sub
JOB R first.sub
JOB N job.sub NOOP
JOB K job.sub
SUBDAG EXTERNAL S inner.dag DIR inner
JOB Z job.sub
FINAL F job.sub
PARENT A CHILD R N K S
PARENT R N K S CHILD Z
RETRY R 1
VARS R code="3"
SCRIPT DEBUG t.debug ALL PRE A script.sh 0 pre A
SCRIPT POST A script.sh 0 post A
SCRIPT POST R script.sh $RETURN post R $RETRY
SCRIPT PRE K script.sh 5 pre K
PRE_SKIP K 5
SAVE_POINT_FILE Z t.save
{RECORDS}#== first.sub
universe = scheduler
executable = first.sh
arguments = "$(JOB) $(RETRY) 0 $(code)"
queue
#== provisioner.sub
universe = scheduler
executable = provisioner.sh
arguments = "P $(RETRY) $(ClusterId)"
getenv = PATH, CONDOR_CONFIG
queue
#== provisioner.sh
#!/bin/sh
echo "$1 $2 start 0" >> ledger
until condor_qedit "$3" ProvisionerState 2 > /dev/null; do sleep 0.2; done
until grep -q "^Z 0 start" ledger; do sleep 0.2; done
echo "$1 $2 end 0" >> ledger
"""
WHOLE_SCRIPTS = {"pre A", "post A", "post R 0", "post R 1", "pre K"}

# It is aborted while a job and a script run; `again` is there when it is run again.
ABORTED = f"""\
JOB A job.sub
JOB B lasting.sub
JOB C job.sub
JOB X x.sub
FINAL F x.sub
PARENT A CHILD B C X
SCRIPT PRE C lasting.sh pre C
ABORT-DAG-ON X 1 RETURN 1
{RECORDS}#== lasting.sub
universe = scheduler
executable = lasting.sh
arguments = "B $(RETRY)"
queue
#== lasting.sh
#!/bin/sh
echo "$1 $2 start 0" >> ledger
until test -e again; do sleep 0.2; done
echo "$1 $2 end 0" >> ledger
#== x.sub
universe = scheduler
executable = x.sh
arguments = "$(JOB)"
queue
#== x.sh
#!/bin/sh
echo "$1 0 start 0" >> ledger
until grep -q "^B 0 start" ledger && grep -q "^pre C start" ledger; do sleep 0.2; done
echo "$1 0 end 0" >> ledger
test -e again
"""
# Each by how often it starts in the first run, and how often it ends in both.
ABORTED_JOBS = {"A 0": (1, 1), "B 0": (1, 1), "C 0": (0, 1), "X 0": (1, 2), "F 0": (1, 2)}

# Its throttles are changed while it runs.
EDITED = """\
JOB A edit.sub
JOB B job.sub
PARENT A CHILD B
#== edit.sub
universe = scheduler
executable = edit.sh
arguments = $(DAGManJobId)
getenv = PATH, CONDOR_CONFIG
queue
#== edit.sh
#!/bin/sh
echo "A 0 start 0" >> ledger
condor_qedit "$1" DAGMan_MaxJobs 77 > /dev/null
until grep -q "77" t.dag.dagman.out; do sleep 0.2; done
echo "A 0 end 0" >> ledger
"""

# B, C and D are submitted together, in the second submission.
TOGETHER = """\
CONFIG together
JOB A plain.sub
JOB B plain.sub
JOB C plain.sub
JOB D plain.sub
#== together
PYDAGMAN_MAX_NODES_IN_CLUSTER = 10
#== plain.sub
universe = scheduler
executable = job.sh
arguments = "$(JOB) $(RETRY) 0 0"
queue
"""

# A publishes how many nodes it adds; B runs after those, C does not.  W is fed in the end.
GROWING = """\
ENV SET HOME=@HERE@
JOB A job.sub
SCRIPT POST A more.sh
EXTEND A more.dag
PUBLISH A FILE values
RETRY A 1
JOB B job.sub
RUN_IF B Parents.A.Added == 2
CACHE B
JOB C job.sub
RUN_IF C Parents.A.Added > 2
PARENT A CHILD B C
SHARED_LIMIT torture ALL_NODES
FEEDER BELOW 1 PROGRAM feed.sh
#== feed.sh
#!/bin/sh
echo "JOB W job.sub"
exit 3
#== more.sh
#!/bin/sh
printf "JOB X job.sub\\nJOB Y job.sub\\nPARENT X CHILD Y\\n" > more.dag
echo "Added = 2" > values
"""
LIMITS = "torture = JOBS 2\n"
JOBS = {
    "edited": ("A 0", "B 0"),
    "together": ("A 0", "B 0", "C 0", "D 0"),
    "whole": ("P 0", "A 0", "R 0", "R 1", "Z 0", "F 0"),
    "growing": ("A 0", "X 0", "Y 0", "B 0", "W 0"),
}
SHAPES = {
    "whole": WHOLE,
    "aborted": ABORTED,
    "edited": EDITED,
    "together": TOGETHER,
    "growing": GROWING,
}

# Actions that the DAG that succeeds has no use for.
_IN_ABORTED = ("RemoveJobs", "KillScripts", "WriteRescue", "SayFailed", "rescue file")
_IN_EDITED = ("PublishLimits",)
_IN_GROWING = (
    *("ReadResult", "EvaluateConditions", "ReadPiece", "RunFeeder", "TakePlaces", "added nodes"),
    *("LookUpCached", "KeepCached"),
)
# Points of a start that goes on with an interrupted run.
_RECOVERING = ("start: log replayed", "start: queue asked", "before QueryQueue", "after QueryQueue")
CRASH = Fault("after SubmitNode", nth=3)
# Without these files no run begins; one that has begun waits for them, and so does any run if a
# trouble of the machine may pass.
_NEEDED_AT_THE_START = ("nodes log: open", "lock file: open", "lock file: lock", "dagman.out: open")
_OF_THE_LOCK = ("lock file: write", "lock file: torn", "lock file: truncate", "lock file: fsync")
# Errors after which nothing is tried again.
_LASTING = ("EACCES", "EROFS")


class Case(NamedTuple):
    """One DAG, and what goes wrong with its DAGMan.

    Attributes:
        refused: the first start is to find that it can't run the DAG.
        again: the sub-DAG's node fails; the DAG goes on from its rescue file.
    """

    shape: str
    faults: tuple[Fault, ...]
    refused: bool = False
    again: bool = False

    @property
    def name(self) -> str:
        """Of its directory."""
        last = self.faults[-1]
        late = f" start {last.start}" if last.start > 1 else ""
        return re.sub(r"\W+", "-", f"{self.shape} {last}{late}")


def cases() -> Iterator[Case]:
    """Every point with everything that can happen there."""
    for point, effects in POINTS.items():
        for effect in effects:
            yield from _cases_of(Fault(point, effect))


def _cases_of(fault: Fault) -> Iterator[Case]:
    point = fault.at
    if any(word in point for word in _IN_ABORTED):
        yield Case("aborted", (fault,))
    elif any(word in point for word in _IN_EDITED):
        yield Case("edited", (fault,))
    elif any(word in point for word in _IN_GROWING):
        yield Case("growing", (fault,))
    elif "SubmitTogether" in point:
        yield Case("together", (fault,))
    elif point in _RECOVERING:
        yield Case("whole", (CRASH, fault._replace(start=2)))
    elif point in ("nodes log: short", "nodes log: write", "nodes log: fsync", "nodes log: torn"):
        yield Case("whole", (fault._replace(times=3),))
    elif point == "nodes log: truncate":  # a piece of an event can't be taken back
        yield Case("whole", (Fault("nodes log: short", "ENOSPC"), fault))
    elif point == "script's output: open":  # each is tried in two ways
        yield Case("whole", (fault._replace(times=4),))
    elif point.startswith("submit file") and fault.do in _LASTING:
        yield Case("whole", (fault,), again=True)
    elif point == "lib.err: write":  # it is told there
        yield Case("whole", (Fault("dagman.out: write", "ENOSPC"), fault))
    elif point == "jobstate.log: truncate":
        yield Case("whole", (Fault("jobstate.log: short", "ENOSPC"), fault))
    elif point in (*_NEEDED_AT_THE_START, *_OF_THE_LOCK) and fault.do != KILL:
        yield Case("whole", (fault,), refused=fault.do in ("EACCES", "ENOLCK"))
        yield Case("whole", (CRASH, fault._replace(start=2)))
    else:
        yield Case("whole", (fault._replace(nth=2 if point.endswith("SubmitNode") else 1),))
    if point.startswith("submit:"):
        yield Case("together", (fault._replace(nth=2),))


def one_of_each(wanted: Iterable[Case]) -> list[Case]:
    """Of the cases that differ in the error alone, the first."""
    seen: dict[tuple[object, ...], Case] = {}
    for case in wanted:
        last = case.faults[-1]
        kind = last.do if last.do in (KILL, LOSE, REFUSE) else "error"
        seen.setdefault((last.at, kind, last.start), case)
    return list(seen.values())


class Outcome(NamedTuple):
    """How a case went.

    Attributes:
        starts: of DAGMan.
        codes: exit codes of the DAGMan jobs.
        wrong: what should not have been; empty if all is well.
    """

    case: Case
    starts: int
    codes: list[int]
    wrong: list[str]


class EachPoint:
    """Runs the cases on a pool.

    Args:
        place: a directory for them, which the pool's user may write to.
        say: told of each case that has ended.
    """

    def __init__(
        self, access_point: AccessPoint, place: Path, say: Callable[[str], None] = print
    ) -> None:
        self._access_point = access_point
        self._place = place
        self._say = say
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)
        self._dagman = faults.install(place)

    def run(self, wanted: Iterable[Case]) -> list[Outcome]:
        """Run them all; returns how they went, in their order."""
        with ThreadPoolExecutor(AT_ONCE) as executor:
            return list(executor.map(self._run, wanted))

    def _run(self, case: Case) -> Outcome:
        work = self._place / case.name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        dags.write(work, SHAPES[case.shape].replace("@HERE@", str(work)))
        (work / "inner").mkdir()
        dags.write(work / "inner", "JOB I job.sub\n", "inner.dag")
        (work / ".condor").mkdir()
        (work / ".condor/pydagman_limits").write_text(LIMITS)
        for directory in (work, work / "inner"):
            directory.chmod(0o777)
        faults.write_plan(work, case.faults)
        play = _Play(self._access_point, self._dagman, work, case)
        try:
            wrong = play.run()
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
        past = faults.fired(work)
        missing = set(range(len(case.faults))) - {entry.number for entry in past}
        wrong += [f"never came to {case.faults[number]}" for number in sorted(missing)]
        outcome = Outcome(case, sum(entry.number < 0 for entry in past), play.codes, wrong)
        verdict = "ok" if not wrong else "WRONG: " + "; ".join(wrong)
        self._say(f"{case.name}: {outcome.starts} starts, codes {play.codes}: {verdict}")
        return outcome


class _Play:
    """The life of one DAG."""

    def __init__(self, access_point: AccessPoint, dagman: str, work: Path, case: Case) -> None:
        self._access_point = access_point
        self._dagman = dagman
        self._work = work
        self._case = case
        self._clusters: list[int] = []
        self.codes: list[int] = []

    def run(self) -> list[str]:
        """Run the DAG, until it should have succeeded; returns what was wrong."""
        wrong = []
        if self._case.refused:
            if self._submit() == 0:
                wrong.append("ran though it could not")
            wrong += self._differ("started", dags.starts(self._work), {})
        if self._case.shape == "aborted":
            wrong += self._run_aborted()
        else:
            jobs = dict.fromkeys(JOBS[self._case.shape], 1)
            if self._case.again:  # these two nodes run in each run of the DAG
                self._submit()
                jobs.update({"F 0": 2, "P 0": 2})
                if not (self._work / "t.dag.rescue001").exists():
                    wrong.append("there is no rescue file")
            if self._case.shape == "growing" and self._case.faults[-1].do == "EACCES":
                jobs.update({"A 1": 1})  # the node has failed
            code = self._submit()
            wrong += [f"ended with {code}"] if code else []
            wrong += self._differ("started", dags.starts(self._work), jobs)
            wrong += self._differ("ended", dags.runs(self._work), jobs)
        if self._case.shape == "whole":
            wrong += self._scripts()
            wrong += self._differ("ended", dags.runs(self._work / "inner"), {"I 0": 1})
            wrong += self._records()
        return wrong + self._left()

    def _run_aborted(self) -> list[str]:
        code = self._submit()
        wrong = [f"ended with {code}, not 1"] if code != 1 else []
        starts = {key: first for key, (first, _) in ABORTED_JOBS.items() if first}
        wrong += self._differ("started", _jobs(dags.starts(self._work)), starts)
        wrong += self._left()
        (self._work / "again").touch()
        code = self._submit()
        wrong += [f"ended at last with {code}"] if code else []
        ends = {key: both for key, (_, both) in ABORTED_JOBS.items()}
        return wrong + self._differ("ended", _jobs(dags.runs(self._work)), ends)

    def _submit(self) -> int:
        """Submit it and wait for its end; returns the exit code."""
        (self._work / "t.dag.dagman.log").unlink(missing_ok=True)
        words = ("-update_submit", "-dagman", self._dagman, "t.dag")
        cluster = self._access_point.submit(self._work, *words)
        self._clusters.append(cluster)
        code = self._access_point.wait(self._work / "t.dag").code
        self.codes.append(code)
        return code

    def _differ(self, what: str, found: Counter[str], wanted: dict[str, int]) -> list[str]:
        return [
            f"{key} {what} {found[key]} times instead of {wanted.get(key, 0)}"
            for key in sorted({*found, *wanted})
            if found[key] != wanted.get(key, 0)
        ]

    def _scripts(self) -> list[str]:
        """A script ran once for each run of its node; twice if DAGMan died while it ran."""
        found = Counter(dags.scripts(self._work))
        wrong = [f"{key} ran" for key in found if key not in WHOLE_SCRIPTS]
        deaths = sum(fault.do == KILL for fault in self._case.faults)
        for key in sorted(WHOLE_SCRIPTS):
            if not 1 <= found[key] <= (TWICE if deaths else 1):
                wrong.append(f"{key} ran {found[key]} times")
        return wrong

    def _records(self) -> list[str]:
        """What is left when the DAG has ended."""
        wrong = []
        for name in ("t.status", "t.dot", "t.jobstate.log", "save_files/t.save", "t.dag.metrics"):
            if not (self._work / name).exists() and not self._may_miss(name):
                wrong.append(f"there is no {name}")
        if (self._work / "t.dag.lock").exists() and "unlink" not in str(self._case.faults[-1]):
            wrong.append("the lock file is left")
        return wrong

    def _may_miss(self, name: str) -> bool:
        return any(
            faults.file_of(name) == fault.at.partition(":")[0] for fault in self._case.faults
        )

    def _left(self) -> list[str]:
        """What the DAG has left in the queue, after the time in which it may go."""
        which = " || ".join(f"DAGManJobId == {n} || ClusterId == {n}" for n in self._clusters)
        until(lambda: not self._access_point.queue(which), pause=0.5)
        left = self._access_point.queue(which)
        return [f"job {ad['ClusterId']} is left in the queue" for ad in left]


def _jobs(found: Counter[str]) -> Counter[str]:
    """Without what the lasting script wrote down."""
    return Counter({key: count for key, count in found.items() if not key.startswith("pre")})


def main(names: list[str]) -> int:
    """Play cases on a pool of its own; returns 1 if something was wrong."""
    chosen = [case for case in cases() if not names or case.name.startswith(tuple(names))]
    directory = Path(__file__).resolve().parents[2] / "var" / "torture-points"
    with started(directory) as world:
        outcomes = EachPoint(world.access_point, directory / "cases").run(chosen)
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    kills = sum(outcome.starts - 1 for outcome in outcomes)
    print(f"{len(outcomes)} cases, {kills} starts after the first, {len(wrong)} cases wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
