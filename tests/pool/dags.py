"""Small DAGs whose jobs write down that they ran, for the pool tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

JOB = """\
#!/bin/sh
# job.sh NAME RETRY SECONDS CODE: says when it starts and ends, in one write each
echo "$1 $2 start $(date +%s.%N)" >> ledger
sleep "$3"
echo "$1 $2 end $(date +%s.%N)" >> ledger
exit "$4"
"""

SCRIPT = """\
#!/bin/sh
# script.sh CODE WORDS...: writes the words down and ends with the code
code=$1
shift
echo "$@" >> scripts
exit "$code"
"""

SUBMIT = """\
universe = scheduler
executable = job.sh
arguments = "$(JOB) $(RETRY) $(seconds:0) $(code:0)"
queue $(procs:1)
"""


def write(directory: Path, dag: str, name: str = "t.dag") -> Path:
    """Write a DAG with the files that its nodes need; returns the DAG file.

    What follows a line `#== FILE` in `dag` goes into that file.
    """
    for file, text in (("job.sh", JOB), ("script.sh", SCRIPT), ("job.sub", SUBMIT)):
        (directory / file).write_text(text)
        (directory / file).chmod(0o755)
    path = directory / name
    dag, *others = dag.split("#== ")
    path.write_text(dag)
    for other in others:
        file, _, text = other.partition("\n")
        (directory / file).write_text(text)
    return path


def runs(directory: Path) -> Counter[str]:
    """How often each node's job ran to its end, by `NAME RETRY`."""
    ledger = directory / "ledger"
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    return Counter(" ".join(line.split()[:2]) for line in lines if " end " in line)


def starts(directory: Path) -> Counter[str]:
    """How often each node's job started, by `NAME RETRY`."""
    ledger = directory / "ledger"
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    return Counter(" ".join(line.split()[:2]) for line in lines if " start " in line)


def scripts(directory: Path) -> list[str]:
    """What the scripts wrote down, sorted."""
    file = directory / "scripts"
    return sorted(file.read_text().splitlines()) if file.exists() else []
