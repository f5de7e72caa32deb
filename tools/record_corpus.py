"""Records what the stock programs make of the DAGs of tests/corpus.

    python -m tools.record_corpus [--times N] [TOPIC/NAME ...]

It starts a pool of its own.  tests/corpora.py describes cases and recordings.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.corpora import Case, dag_cases
from tools import recording

if TYPE_CHECKING:
    from tests.pool.access_point import AccessPoint

FILE = "corpus.json"
VERSION = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"

# Runs (command, directory, environment beside the usual) and returns exit code and output.
Run = Callable[[Sequence[str], Path, dict[str, str]], "subprocess.CompletedProcess[str]"]

_STAMP = re.compile(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d ")
_SAID = re.compile(
    r"ERROR: (?!Queue manager)|Error: |W(arning|ARNING): |Processing error|DAG marked|Failed to p"
    r"|\s+Example sytanx|\s+Setting VAR|Found name collision"
)
_CATEGORY = re.compile(r"Category (.*) has (-?\d+) jobs, throttle setting of (-?\d+)")
_FIELDS = {
    "Node Name": "name",
    "Job Submit File": "submit",
    "PRE Script": "pre",
    "POST Script": "post",
    "HOLD Script": "hold",
    "Retry": "retry",
}
_FAMILY = re.compile(r"PARENTS: (.*) WAITING: \d+ CHILDREN: (.*)")
# What DAGMan gives to condor_submit beside VARS and priority.
_USUAL = re.compile(
    r"(JOB|RETRY|DAG_STATUS|FAILED_COUNT|batch_name|submit_event_notes|dagman_log|keep_claim_idle"
    r"|My\.DAGMan\w+|MY\.DAGParentNodeNames|DAG_PARENT_NAMES|notification)="
)


def record(case: Case, directory: Path, run: Run) -> dict[str, Any]:
    """What the stock programs say to a case; `directory` must not be there, nor its namesakes."""
    found = _set_up(case, directory, run)
    found["checker"] = _check(case, directory, run)
    if case.submits:
        found["submits"] = _submit(case, directory.with_name(directory.name + ".submits"), run)
    return found


def record_all(wanted: Sequence[Case], place: Path, run: Run) -> dict[str, Any]:
    """What the stock programs say to all of these cases, several at a time."""
    with ThreadPoolExecutor(max_workers=6) as threads:
        results = threads.map(lambda case: record(case, place / case.name, run), wanted)
        return {case.name: result for case, result in zip(wanted, results)}


def _dagman(case: Case, directory: Path, run: Run, *more: str, **knobs: str) -> tuple[int, str]:
    """Exit code and log of a stock DAGMan; -11 if it crashed."""
    case.lay_out(directory)
    environment = {"CONDOR_ID": "", "_CONDOR_DAGMAN_LOG": "log"}
    for knob, value in {**case.knobs, **knobs}.items():
        environment["_CONDOR_" + knob] = value
    command = ["condor_dagman", "-f", "-l", ".", "-Lockfile", "lock"]
    for dag in case.dags:
        command += ["-Dag", dag]
    command += [*more, "-Debug", "7", *case.options, "-CsdVersion", VERSION]
    code = run(command, directory, environment).returncode
    log = (directory / "log").read_bytes().decode("utf-8", "surrogateescape")
    return (-11 if code in (-11, 139) else code), log.replace(str(directory), "@")


def _set_up(case: Case, directory: Path, run: Run) -> dict[str, Any]:
    code, log = _dagman(case, directory, run, "-SetupOnly")
    lines = [_STAMP.sub("", line) for line in log.splitlines()]
    begin = next((n for n, line in enumerate(lines) if re.match(r"Parsing \d+ dag", line)), 0)
    lines = lines[begin:]
    end = next((n for n, line in enumerate(lines) if line.startswith("Dag contains ")), len(lines))
    found: dict[str, Any] = {"exit": code, "said": [ln for ln in lines[:end] if _SAID.match(ln)]}
    if end < len(lines):
        found["total"] = int(lines[end].split()[2])
        found["nodes"] = _nodes(lines[end:])
        services = [ln[22:-3] for ln in lines if ln.startswith("Starting service node ")]
        found.update({"services": services} if services else {})
        matches = filter(None, map(_CATEGORY.match, lines))
        limits = {match[1]: [int(match[2]), int(match[3])] for match in matches}
        found.update({"categories": limits} if limits else {})
    return found


def _nodes(lines: Sequence[str]) -> list[dict[str, Any]]:
    """The nodes of the dump: only what is not as with most nodes."""
    nodes: list[dict[str, Any]] = []
    for line in lines:
        if line.startswith("------") and "Node" in line:
            nodes.append({})
            continue
        if line.startswith("------"):
            break
        family = _FAMILY.match(line)
        key, _, value = line.partition(":")
        if not nodes:
            continue
        if family:
            for word, names in zip(("parents", "children"), family.groups()):
                nodes[-1].update({word: names.split()} if names.split() else {})
        elif key.strip() in _FIELDS:
            nodes[-1][_FIELDS[key.strip()]] = value.strip()
        elif line.split() == ["Noop:", "true"]:
            nodes[-1]["noop"] = True
        elif key.strip() == "Node Status" and value.split() == ["STATUS_DONE"]:
            nodes[-1]["done"] = True
    return nodes


def _check(case: Case, directory: Path, run: Run) -> dict[str, Any]:
    """What the checker says, as text and as JSON."""
    options = [option for option in case.options if option == "-UseDagDir"]
    command = ["condor_dag_checker", *options]
    done = run([*command, *case.dags], directory, {})
    found: dict[str, Any] = {"exit": done.returncode}
    output = (done.stdout + done.stderr).replace(str(directory), "@")
    text = [line for line in output.splitlines() if line.strip()]
    found.update({"text": text} if text else {})
    output = run([*command, "-json", *case.dags], directory, {}).stdout
    output = output.replace(str(directory), "@")
    try:
        found["json"] = json.loads(output)
    except ValueError:
        found["json"] = output  # it crashed, or could not begin
    return found


def _submit(case: Case, directory: Path, run: Run) -> list[dict[str, Any]]:
    """What a condor_submit that always fails is given."""
    stand_in = directory.with_name(directory.name + ".sh")
    given = directory.with_name(directory.name + ".given")
    directory.parent.mkdir(parents=True, exist_ok=True)
    given.touch()
    given.chmod(0o666)
    stand_in.write_text(
        f"#!/bin/sh\nprintf '%s\\0' \"$PWD\" \"$@\" '' >> '{given}'\necho ERROR\nexit 1\n"
    )
    stand_in.chmod(0o755)
    _dagman(
        case,
        directory,
        run,
        *("-SubmitMethod", "0"),
        DAGMAN_CONDOR_SUBMIT_EXE=str(stand_in),
        DAGMAN_MAX_SUBMIT_ATTEMPTS="1",
        DAGMAN_USER_LOG_SCAN_INTERVAL="1",
        DAGMAN_AVOID_SLASH_TMP="False",
    )
    text = given.read_text().replace(str(directory), "@")
    return [_given(part.split("\0")) for part in text.split("\0\0") if part]


def _given(words: Sequence[str]) -> dict[str, Any]:
    """One call of condor_submit: directory, then `NAME=VALUE` before and `-a NAME=VALUE` after."""
    found: dict[str, Any] = {"directory": words[0]}
    append = False
    for word in words[1:-1]:
        name, _, value = word.partition("=")
        if name in ("dag_node_name", "priority"):
            found[name] = value
        elif word != "-a" and not _USUAL.match(word):
            found.setdefault("append" if append else "prepend", []).append(word)
        append = word == "-a"
    found["submit"] = re.sub(r"\.\d+\.temp$", ".temp", words[-1])
    return found


def stock_programs(access_point: AccessPoint) -> Run:
    """Runs the stock programs as the pool's user."""

    def run(
        command: Sequence[str], directory: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return access_point.run(
            access_point.which(command[0], ours=False),
            *command[1:],
            cwd=directory,
            environment=environment,
            check=False,
            errors="surrogateescape",
        )

    return run


def main(argv: Sequence[str]) -> int:
    """Record all cases, or those named; returns the exit code."""
    options = recording.parser(__doc__).parse_args(argv)
    cases = dag_cases()
    wanted = [cases[name] for name in recording.chosen(options.case, cases)]
    with recording.own_pool() as (access_point, place):
        run = stock_programs(access_point)
        return recording.keep(
            FILE,
            access_point.version,
            lambda number: record_all(wanted, place / str(number), run),
            options.times,
            options.case,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
