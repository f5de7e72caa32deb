"""The DAGs that both programs are compared on, a file `TOPIC.dags` for each topic, and their runs.

A line `#=== NAME` begins the case TOPIC/NAME, a DAG that begins with lines for the test:

    #: run OPTIONS [DAGS]      one run by condor_submit_dag; no such line: one run
    #: early COMMAND           done in the DAG's directory just before the first run begins
    #: differs RECORD: WHY     a record (see RECORDS) in which ours is another on purpose
    #: partial RECORD: WHY     a record whose lines come in an order that is chance: sorted
    #: ours exits CODES        the exit codes of ours, where they are not those of the stock program
    #: ours says LINE          a line that must be in the `.dagman.out` of ours
    #: ordered                 jobs start one after the other, in the same order

What follows a line `#== FILE` goes into that file.  Files before the first case are there in all
cases of the topic; the jobs and scripts of `dags.py`, and those below, are there too.

When something happens is a fact, not a matter of seconds: jobs (`VARS A until="FACT&..."`) and
scripts (`until.sh`, `when.sh`, `halt.sh`) wait for what DAGMan, jobs and scripts have written:

    NODE:EVENT    DAGMan has read this event of the node's job; of one proc: `NODE/PROC:EVENT`
    NODE:runs     the node's job has started, and DAGMan has read so
    N*FACT        so often; `run*FACT`: as often as DAGMan has been started
    never         goes on until it is killed
    PATTERN       a line of `.dagman.out`, or of what jobs and scripts write down; `.` for a blank
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests import case_files
from tests.pool import dags as small_dags
from tests.pool.access_point import STOCK, AccessPoint, new_directory
from tests.pool.waiting import story, until

DIRECTORY = Path(__file__).resolve().parent
RECORDS = ["exits", "starts", "order", "scripts", "files", "progress", "metrics", "status"]
RECORDS += ["jobstate", "table", "submits", "dag_lines", "node_lines", "own_events", "job_log"]
RECORDS += ["dot", "modes", "output", "parsed"]
OBSERVED = "NODE_STATUS_FILE t.status 1\nJOBSTATE_LOG t.jobstate\nDOT t.dot UPDATE OVERWRITE\n"
AT_ONCE = 40
# A DAGMan job that has ended, or was removed, says so with these events in its log.
_END = re.compile(r"^(?:005|009) ", re.M)
_HEADER = re.compile(r"^#: (\w+) ?(.*)$", re.M)

FACTS = """\
#!/bin/sh
# facts.sh FACT&...: goes on until all facts are there, or whoever has started it is gone
said() {
    test "$(cat t.dag.dagman.out ledger scripts 2> /dev/null | grep -ce "$1")" -ge "$times"
}
event() {
    case $1 in
    */*) said "Event: ULOG_$2 for HTCondor Node ${1%/*} ([0-9]*[.]${1#*/}[.]" ;;
    *) said "Event: ULOG_$2 for HTCondor Node $1 " ;;
    esac
}
there() {
    case $1 in
    *:runs) event "${1%:*}" EXECUTE && said "^${1%:*}[ /].*start" ;;
    *:*) event "${1%:*}" "${1#*:}" ;;
    *) said "$1" ;;
    esac
}
IFS="&"
for fact in $1; do
    case $fact in
    run\\**) times=$(grep -c "STARTING UP" t.dag.dagman.out) ;;
    [1-9]\\**) times=${fact%%\\**} ;;
    *) times=1 ;;
    esac
    fact=${fact#run\\*}
    fact=${fact#[1-9]\\*}
    until there "$fact"; do
        kill -0 "$PPID" 2> /dev/null && test -e facts.sh || exit 1
        sleep 0.3
    done
done
"""
UNTIL = """\
#!/bin/sh
# until.sh FACTS CODE WORDS...: as script.sh, but ends when the facts are there, and says so
facts=$1 code=$2
shift 2
echo "$@" >> scripts
./facts.sh "$facts"
echo "$@" ended >> scripts
exit "$code"
"""
WHEN = """\
#!/bin/sh
# when.sh FACTS COMMAND...: ends at once, successfully; the command runs when the facts are there
facts=$1
shift
echo "$1" >> scripts
(./facts.sh "$facts" && exec "$@") > when.out 2>&1 < /dev/null &
"""
HALT = """\
#!/bin/sh
# halt.sh DAG: halts the DAG, and says so when DAGMan has seen it
touch t.dag.halt
until test "$(condor_q "$1" -af DAG_Status)" = 6; do
    test -e halt.sh || exit 1
    sleep 0.3
done
echo halted >> scripts
"""
TOOLS = {"facts.sh": FACTS, "until.sh": UNTIL, "when.sh": WHEN, "halt.sh": HALT}


@dataclass
class Case:
    """A DAG, and how it is run.

    Attributes:
        text: the DAG with the lines for the test, and its files.
        common: the files that all cases of its topic have, by name.
    """

    name: str
    text: str
    common: dict[str, str] = field(default_factory=dict)
    runs: list[list[str]] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    differs: dict[str, str] = field(default_factory=dict)
    partial: dict[str, str] = field(default_factory=dict)
    our_exits: list[int] | None = None
    our_lines: list[str] = field(default_factory=list)
    ordered: bool = False

    def __post_init__(self) -> None:
        readers = {"run": self._run, "early": self.early.append, "ordered": self._ordered}
        readers.update(differs=self._differs, partial=self._partial, ours=self._ours)
        for word, value in _HEADER.findall(self.text):
            readers[word](value)
        self.runs = self.runs or [[]]

    def _run(self, options: str) -> None:
        self.runs.append(options.split())

    def _differs(self, value: str) -> None:
        self.differs.update(self._records(value))

    def _partial(self, value: str) -> None:
        self.partial.update(self._records(value))

    def _records(self, value: str) -> dict[str, str]:
        records, _, why = value.partition(":")
        assert why.strip(), f"{self.name}: why?"
        names = RECORDS if records == "all" else records.split()
        assert set(names) <= set(RECORDS), f"{self.name}: {records}"
        return dict.fromkeys(names, why.strip())

    def _ours(self, value: str) -> None:
        word, _, rest = value.partition(" ")
        assert word in ("exits", "says"), f"{self.name}: {value}"
        if word == "exits":
            self.our_exits = [int(code) for code in rest.split()]
        else:
            self.our_lines.append(rest)

    def _ordered(self, _: str) -> None:
        self.ordered = True

    def comparable(self) -> list[str]:
        """Records that must be the same under both programs."""
        apart = set(self.differs)
        if not self.ordered:
            apart.add("order")  # which is chance
        if self.our_exits:
            apart.add("exits")
        return [record for record in RECORDS if record not in apart]

    def write(self, directory: Path) -> None:
        """Write the DAG, observed, with all files that it needs."""
        new_directory(directory)
        small_dags.write(new_directory(directory / "sub"), "")
        for name, text in {**TOOLS, **self.common}.items():
            (directory / name).write_text(text)
            (directory / name).chmod(0o755)
        dag, mark, others = self.text.partition("#== ")
        small_dags.write(directory, dag + OBSERVED + mark + others)


def load() -> dict[str, Case]:
    """All cases by name, `TOPIC/NAME`."""
    found = {}
    for path in sorted(DIRECTORY.glob("*.dags")):
        common = case_files.shared(path)
        for name, text in case_files.read(path).items():
            found[f"{path.stem}/{name}"] = Case(f"{path.stem}/{name}", text, common)
    return found


def play(access_point: AccessPoint, case: Case, directory: Path, flavour: str) -> None:
    """Run a case to its end, with the files in a new directory.

    Raises:
        AssertionError: it can't be submitted, or does not end; the message tells its story.
    """
    case.write(directory)
    for number, options in enumerate(case.runs, 1):
        early = case.early if number == 1 else []
        job = _submit(access_point, directory, options, early, flavour)
        say = f"the end of run {number} of {case.name}"
        tell = partial(story, directory / "t.dag")
        until(partial(_ended, directory, job), say, max_pause=0.5, tell=tell)


def _ended(directory: Path, job: int) -> bool:
    """Whether a DAGMan job has ended, and those of the inner DAGs that it began."""
    if not re.search(rf"(?m)^00[59] \(0*{job}\.", _text(directory / "t.dag.dagman.log")):
        return False
    logs = [_text(path) for path in directory.rglob("*.dagman.log")]
    return all(_END.search(log.split("\n000 ")[-1]) for log in logs)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _submit(
    access_point: AccessPoint, directory: Path, options: list[str], early: list[str], flavour: str
) -> int:
    stock = flavour == STOCK
    dagman = access_point.stock_dagman if stock else access_point.our_dagman
    dags = [word for word in options if word.endswith(".dag")]
    # What DAGMan makes of a DAG that is wrong is asked here, not condor_submit_dag.
    words = ["-dagman", dagman, *([] if stock else ["-no_check_dag"])]
    words += [*options[: len(options) - len(dags)], "t.dag", *dags]
    if not early:
        return access_point.submit(directory, *words, stock=stock)
    command = access_point.which("condor_submit_dag", ours=not stock)
    access_point.run(command, "-no_submit", *words, cwd=directory, loaded=not stock)
    for line in early:
        access_point.run("sh", "-c", line, cwd=directory)
    said = access_point.run("condor_submit", "-terse", "t.dag.condor.sub", cwd=directory).stdout
    return int(said.partition(".")[0])


def play_all(
    access_point: AccessPoint, place: Path, cases: Iterable[Case], flavour: str
) -> dict[str, AssertionError]:
    """Run all cases, each in `place`/NAME; returns what went wrong, by name."""
    errors: dict[str, AssertionError] = {}

    def one(case: Case) -> None:
        directory = place / case.name
        try:
            play(access_point, case, directory, flavour)
        except AssertionError as error:
            errors[case.name] = error
            mine = f'Iwd == "{directory}" && JobUniverse == 7'
            access_point.run("condor_rm", "-constraint", mine, check=False)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(one, cases))
    return errors
