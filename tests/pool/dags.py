"""Small DAGs whose jobs write down that they ran, for the pool tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

JOB = """\
#!/bin/sh
# job.sh NAME RETRY SECONDS CODE [FACTS]: says when it starts and ends, in one write each
echo "$1 $2 start $(date +%s.%N)" >> ledger
test -z "$5" || ./facts.sh "$5"
sleep "$3"
echo "$1 $2 end $(date +%s.%N)" >> ledger
exit "$4"
"""

FIRST = """\
#!/bin/sh
# first.sh NAME RETRY SECONDS CODE [FACTS]: as job.sh, but fails with CODE only when it first runs
code=0
mkdir "first.${1%%/*}" 2>/dev/null && code=$4
exec ./job.sh "$1" "$2" "$3" "$code" "$5"
"""

SCRIPT = """\
#!/bin/sh
# script.sh CODE WORDS...: writes the words down and ends with the code
code=$1
shift
echo "$@" >> scripts
exit "$code"
"""

SLOW = """\
#!/bin/sh
# slow.sh SECONDS CODE WORDS...: as script.sh, but takes some time, and says so when it ends
seconds=$1 code=$2
shift 2
echo "$@" >> scripts
sleep "$seconds"
echo "$@" ended >> scripts
exit "$code"
"""

LATER = """\
#!/bin/sh
# later.sh SECONDS COMMAND...: ends at once, successfully; the command runs later
seconds=$1
shift
echo "$1" >> scripts
(sleep "$seconds"; exec "$@") > later.out 2>&1 < /dev/null &
"""

FREE = """\
#!/bin/sh
# free.sh DAG NODE: releases the jobs of a node as soon as one is on hold
until condor_release -constraint "DAGManJobId == $1 && DAGNodeName == \\"$2\\""; do
    test -e free.sh || exit 1
    sleep 0.3
done
"""

SUBMIT = """\
universe = scheduler
executable = $(program:job.sh)
arguments = "$(JOB)$(say) $(RETRY) $(seconds:0) $(code:0) '$(until)'"
on_exit_hold = $(holds:false)
queue $(procs:1)
"""

# A node in every state that lasts, until the file `go` is there:
# A done, after a PRE script; B runs; C waits for its category; D unready; F failed; G futile;
# P in its PRE script, Q in its POST script.
STATES = """\
JOB A job.sub
SCRIPT PRE A script.sh 0 pre
JOB B wait.sub
JOB C job.sub
JOB D job.sub
JOB F job.sub
JOB G job.sub
JOB P job.sub
JOB Q job.sub
PARENT A CHILD B C
PARENT B CHILD D
PARENT F CHILD G
CATEGORY B few
CATEGORY C few
MAXJOBS few 1
PRIORITY B 1
VARS F code="3"
SCRIPT PRE P wait.sh
SCRIPT POST Q wait.sh
#== wait.sh
#!/bin/sh
until test -e go; do sleep 0.2; done
#== wait.sub
universe = vanilla
executable = wait.sh
queue
"""

# A and C last until they are told to end; B comes after A.
CHAIN = """\
JOB A told.sub
JOB B job.sub
JOB C told.sub
PARENT A CHILD B
SCRIPT POST A script.sh 0 post A
SCRIPT PRE B script.sh 0 pre B
"""

ALWAYS = {"job.sh": JOB, "script.sh": SCRIPT, "job.sub": SUBMIT}
IF_NAMED = {"first.sh": FIRST, "slow.sh": SLOW, "later.sh": LATER, "free.sh": FREE}


def write(directory: Path, dag: str, name: str = "t.dag") -> Path:
    """Write a DAG with the files that its nodes need; returns the DAG file.

    What follows a line `#== FILE` in `dag` goes into that file.
    """
    named = {file: text for file, text in IF_NAMED.items() if file in dag}
    for file, text in {**ALWAYS, **named}.items():
        (directory / file).write_text(text)
        (directory / file).chmod(0o755)
    path = directory / name
    dag, *others = dag.split("#== ")
    path.write_text(dag)
    for other in others:
        file, _, text = other.partition("\n")
        (directory / file).write_text(text)
        (directory / file).chmod(0o755)
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
