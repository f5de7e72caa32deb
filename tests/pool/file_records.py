"""Records of a DAG's run: what is in each file that DAGMan writes, without times, job ids and names
of machines and directories, so that two runs can be compared byte for byte.

Where the order of lines is chance (which of two jobs ends first) the lines are sorted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

_DATE = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b")
_MILLISECONDS = re.compile(r"(?<=DATE)\.\d{3}\b")
_ASCTIME = re.compile(r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b")
_EPOCH = re.compile(r"\b1\d{9}\b")
_CREATED = re.compile(r"\d{1,2}/\d{1,2}/\d{4} \d\d:\d\d:\d\d UTC")


def plain(text: str) -> str:
    """The text without its times."""
    text = _ASCTIME.sub("ASCTIME", _CREATED.sub("CREATED", text))
    return _EPOCH.sub("EPOCH", _MILLISECONDS.sub(".MS", _DATE.sub("DATE", text)))


def named(directory: Path, pattern: str) -> dict[str, str]:
    """Texts of the files whose names match, in all directories below."""
    paths = sorted(path for path in directory.rglob(pattern) if path.is_file())
    return {str(path.relative_to(directory)): path.read_text() for path in paths}


def progress(directory: Path) -> dict[str, str]:
    """Rescue and save files, whole."""
    texts = named(directory, "*").items()
    return {name: plain(text) for name, text in texts if "# Rescue DAG version" in text}


_OWN_METRICS = re.compile(
    r'(?m)^(    "(?:start_time|end_time|duration)":)\d+\.\d{3},$'
    r'|^(    "(?:dagman_id|parent_dagman_id)":")\d+",$|^(    "version":)".*",$'
)
_PROGRAM = re.compile(r'(?m)^    "program":"condor_pydagman .*",\n')


def metrics(directory: Path) -> dict[str, str]:
    """Metrics files, whole, but for the line that only ours has."""

    def hidden(found: re.Match[str]) -> str:
        return f"{found[1] or found[2] or found[3]}..."

    texts = named(directory, "*.metrics").items()
    return {name: _OWN_METRICS.sub(hidden, _PROGRAM.sub("", text)) for name, text in texts}


def dot(directory: Path) -> str:
    """The DOT file as it was written last."""
    path = directory / "t.dot"
    return plain(path.read_text()) if path.exists() else ""


# Events


def _events(text: str) -> list[str]:
    return [event for event in text.split("...\n") if event.strip()]


def own_events(directory: Path) -> list[str]:
    """Events of the nodes logs that DAGMan writes itself, sorted; but for our records.  Then the
    numbers by which NOOP and skipped nodes are told apart."""
    found: list[str] = []
    numbers: list[str] = []
    for text in named(directory, "*.nodes.log").values():
        for event in _events(text):
            if event.startswith(("016 ", "034 ")) or " (000.2147483647." in event[:20]:
                event = re.sub(r"^(016) \(\d{3,}\.(000\.000)\)", r"\1 (ID.\2)", event)
                found.append(plain(re.sub(r"2147483647\.\d{3}\)", "2147483647.NUMBER)", event)))
        numbers += re.findall(r"(?m)^0(?:00|34) \(000\.2147483647\.(\d+)\)", text)
    return sorted(found) + sorted(numbers)


def job_log(directory: Path) -> dict[str, list[str]]:
    """The DAGMan jobs' own event logs."""
    logs = named(directory, "*.dagman.log")
    return {name: [_job_event(event) for event in _shown(text)] for name, text in logs.items()}


def _shown(text: str) -> list[str]:
    """Events but for sizes of jobs, and removals of jobs that had ended: whether the schedd still
    has such a job when all are removed is chance."""
    shown: list[str] = []
    ended: set[str] = set()
    for event in _events(text):
        kind, job = event.split(" ")[:2]
        if kind != "006" and not (kind == "009" and job in ended):
            shown.append(event)
        if kind == "005":
            ended.add(job)
    return shown


def _job_event(event: str) -> str:
    event = re.sub(r"<[\d.]+:\d+\?[^>]*>", "<ADDRESS>", plain(event))
    event = re.sub(r'(JobBatchName = ".*\+)\d+"', r'\1ID"', event)
    event = re.sub(r"\bUsr \d+ [\d:]+, Sys \d+ [\d:]+", "USAGE", event)
    return re.sub(r"\(\d{3,}\.000\.000\)", "(ID)", event)


# jobstate.log


def jobstate(directory: Path) -> dict[str, list[str]]:
    """Its lines by node, but for EXECUTE and IMAGE_SIZE, which may come or not; and DAGMan's own.

    Jobs and sequence numbers are counted for each node; `numbers` says whether these were given
    one after the other, with no gap.
    """
    found: dict[str, list[str]] = {}
    known: dict[str, dict[str, int]] = {}
    numbers: list[int] = []
    for line in (directory / "t.jobstate").read_text().splitlines() if _has(directory) else []:
        epoch, name, *words = line.split(" ")
        assert re.fullmatch(r"1\d{9}", epoch), line
        if name == "INTERNAL":
            line = re.sub(r"STARTED \d+\.", "STARTED ID.", " ".join(words))
            found.setdefault(name, []).append(line)
            continue
        event, job, *rest, dash, number = words
        numbers += [int(number)] * (int(number) not in numbers)
        if event in ("EXECUTE", "IMAGE_SIZE"):
            continue
        cluster, dot, proc = job.partition(".")
        jobs = known.setdefault(name, {})
        if dot and cluster != "0":
            job = f"JOB{jobs.setdefault(cluster, len(jobs))}.{proc}"
        run = known.setdefault(f"{name} ", {}).setdefault(number, len(known[f"{name} "]))
        found.setdefault(name, []).append(" ".join([event, job, *rest, dash, str(run)]))
    found["numbers"] = [str(numbers == list(range(1, len(numbers) + 1)))]
    return found


def _has(directory: Path) -> bool:
    return (directory / "t.jobstate").exists()


# The node status file


# Where ours says more, or which of several procs comes first is chance.
_DETAILS = [
    (r"\(\d+\.(\d+\.\d+)\)", r"(ID.\1)"),
    (r" \(after \d+ node retries\)", ""),
    (r"Job submit failed(?! and POST).*", "Job submit failed"),  # ours says why
    # What stock says to have failed, whatever had before the POST script did.
    (r"Job died on signal 1 and", "Job submit failed and"),
    (r"Job failed due to DAGMAN error 0 and", "Job succeeded (DAGMAN error 0) and"),
    (r"Job failed due to DAGMAN error -1002 and", "Job was removed and"),
    (r"PRE Script failed with (status \d+) and", r"Job exited with \1 and"),
    (r"\(ID\.[1-9].*", "(ANOTHER PROC)"),
]


def status(directory: Path) -> str:
    """The node status file, whole."""
    path = directory / "t.status"
    text = plain(path.read_text()) if path.exists() else ""
    if '(aborted)"' in text:  # stock announces a next update that never comes
        text = re.sub(r"(?m)^  NextUpdate = .*", "", text)
    return re.sub(r'(?m)(?<=^  StatusDetails = ").*(?=";$)', _same_details, text)


def _same_details(found: re.Match[str]) -> str:
    text = found[0]
    for pattern, replacement in _DETAILS:
        text = re.sub(pattern, replacement, text)
    return text


# Files as such


def modes(directory: Path) -> dict[str, str]:
    """Permissions of all files that DAGMan and the schedd made."""
    made = sorted(path for path in directory.rglob("t.*") if path.is_file())
    return {str(path.relative_to(directory)): oct(path.stat().st_mode) for path in made}


def output(directory: Path) -> dict[str, list[str]]:
    """What DAGMan and the programs that it runs say on standard output; stock keeps its own words
    until its end."""
    texts = named(directory, "*.lib.out").items()
    plain_texts = {name: re.sub(r"-dagman \S+", "-dagman PATH", text) for name, text in texts}
    return {name: sorted(text.splitlines()) for name, text in plain_texts.items()}


# What clients make of `.dagman.out`: pegasus-monitord and lsst.ctrl.bps look for such lines and for
# no others.

_NODE = r"(?P<node>\S+)"
_JOB = r"\((?P<job>-?\d+\.-?\d+)(?:\.-?\d+)?\)"
_LOOKED_FOR = [
    ("version", r"\*\* \$CondorVersion: (?P<what>\d+\.\d+\.\d+)"),
    ("parsing", r"Parsing (?P<what>.+) \.\.\.$"),
    ("event", rf"Event: ULOG_(?P<what>\S+) for HTCondor Node {_NODE} {_JOB}"),
    ("script runs", rf"Running (?P<what>PRE|POST) script of Node {_NODE}\.\.\."),
    ("script ended", rf"(?P<what>PRE|POST) Script of [nN]ode {_NODE} completed successfully\.$"),
    ("script failed", rf"(?P<what>PRE|POST) Script of [nN]ode {_NODE} failed with status -?\d+"),
    ("submit", r"Submitting HTCondor Node (?P<node>.+) job"),
    ("submit failed", r"(?P<what>ERROR: submit attempt failed|Job submit try \d+/\d+ failed)"),
    ("failed", rf"Node {_NODE} job proc {_JOB} failed with (?P<what>(status|signal) +-?\d+)\.$"),
    ("ended", rf"Node {_NODE} job proc {_JOB} completed successfully\.$"),
    ("retry", rf"Retrying node {_NODE} \((?P<what>retry #\d+ of \d+)\)"),
    ("finished", r"\(condor_DAGMAN\)[\w\s]+EXITING WITH STATUS (?P<what>\d+)$"),
    ("process", r"\*\* PID = \d+"),
    ("started", r"\*\* \S*condor\S+ \(CONDOR_DAGMAN\) STARTING UP"),
    ("aborted", r"Received SIGUSR1"),
    ("held", r"\s*Hold reason: *(?P<what>.*)"),
    ("strict", r"ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting$"),
]
# Events that come or do not: a job that has just ended is still there when jobs are removed.
_CHANCE = re.compile(r" (EXECUTE|IMAGE_SIZE|JOB_ABORTED|JOB_EVICTED)$")
_PATTERNS = [(kind, re.compile(text)) for kind, text in _LOOKED_FOR]


def parsed(directory: Path) -> list[str]:
    """What clients find in `.dagman.out`."""
    path = directory / "t.dag.dagman.out"
    return parsed_lines(path.read_text().splitlines() if path.exists() else [])


def parsed_lines(lines: list[str]) -> list[str]:
    """The same, sorted; jobs are counted for each node."""
    found: list[str] = []
    jobs: dict[str, dict[str, int]] = {}
    for line in lines:
        matches = ((kind, pattern.search(line)) for kind, pattern in _PATTERNS)
        kind, match = next(((kind, match) for kind, match in matches if match), ("", None))
        if match is not None:
            found.append(_entry(kind, match.groupdict(), jobs))
    return sorted(entry for entry in found if not _CHANCE.search(entry))


def _entry(kind: str, parts: dict[str, str], jobs: dict[str, dict[str, int]]) -> str:
    node, job = parts.get("node") or "", parts.get("job") or ""
    if job:
        cluster, _, proc = job.partition(".")
        known = jobs.setdefault(node, {})
        job = f"{known.setdefault(cluster, len(known))}.{proc}"
    return f"{kind}: {node} {job} {parts.get('what') or ''}".replace("  ", " ")


RECORDS: dict[str, Callable[[Path], object]] = {
    "progress": progress,
    "metrics": metrics,
    "status": status,
    "jobstate": jobstate,
    "own_events": own_events,
    "job_log": job_log,
    "dot": dot,
    "modes": modes,
    "output": output,
    "parsed": parsed,
}
