"""The ledger: every job and script of a tortured DAG appends a line when it begins and ends.

    OWNER NODE RETRY WHAT ID EXTRA TIME

OWNER is the cluster of the DAGMan job that decided on it, RETRY the attempt.  WHAT is `start` or
`end` of a job; `pre`, `pre-end`, `post` or `post-end` of a script.  ID is the job, or for a script
the process id of its DAGMan; EXTRA the exit code, or for the begin of a POST script its $RETURN.
Each line is one write of the shell's own echo to a file opened for appending, so lines never mix,
and one that stands before another was written before it.  Nothing is written without the time: its
program, killed with the shell's process group, may end before the shell.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

JOB = """\
#!/bin/sh
# job.sh OWNER NODE RETRY ID SECONDS FAILS: fails in its first so many attempts
note() {{ now=$(date +%s.%N) && echo "$owner $node $retry $1 $id $2 $now" >> {ledger}; }}
owner=${{1%%.*}} node=$2 retry=$3 id=$4 code=0
note start 0
sleep "$5"
test "$retry" -lt "$6" && code=1
note end $code
exit $code
"""

# A task of a bundle knows its job by the ad alone.  It begins only if what it reads is whole.
BUNDLED = """\
#!/bin/sh
# bundled.sh NODE RETRY SECONDS FAILS [OUTPUT [INPUT,INPUT...]]
for input in $(echo "$6" | tr , ' '); do test "$(cat "$input").out" = "$input" || exit 3; done
if test "$5"; then echo "$1" > "$5.$$" && mv "$5.$$" "$5" || exit 4; fi
value() {{ sed -n "s/^$1 = //p" "$_CONDOR_JOB_AD"; }}
# HTCondor writes it anew when it is edited.
until owner=$(value DAGManJobId) id=$(value ClusterId) && test "$owner" && test "$id"
do sleep 0.1; done
exec {directory}/job.sh "$owner" "$1" "$2" "$id.0" "$3" "$4"
"""

SCRIPT = """\
#!/bin/sh
# script.sh pre|post NODE RETRY RETURN FAILS|skip
note() {{ now=$(date +%s.%N) && echo "$owner $node $retry $1 $PPID $2 $now" >> {ledger}; }}
owner=${{CONDOR_ID:-0}}; owner=${{owner%%.*}} what=$1 node=$2 retry=$3 code=0
note "$what" "$4"
sleep 0.1
if test "$5" = skip; then code=7
elif test "$4" -ne 0; then code=1
elif test "$retry" -lt "$5"; then code=2
fi
note "$what-end" $code
exit $code
"""

SUBMIT = """\
universe = $(kind:scheduler)
executable = job.sh
arguments = "$ENV(CONDOR_ID:0.0) $(JOB) $(RETRY) $(ClusterId).$(ProcId) $(seconds:0.3) $(fails:0)"
should_transfer_files = no
job_lease_duration = 20
queue $(procs:1)
"""

# For nodes that may be bundled.
MAY_BE_BUNDLED = """\
universe = vanilla
executable = bundled.sh
arguments = "$(JOB) $(RETRY) $(seconds:0.3) $(fails:0) $(writes) $(reads)"
should_transfer_files = no
job_lease_duration = 20
queue
"""

# The same with file transfer.
TRANSFERRED = MAY_BE_BUNDLED.replace(
    "= no\n",
    "= yes\ntransfer_input_files = $(reads)\ntransfer_output_files = $(writes)\n",
)

# For nodes that may be submitted together.
ONE = SUBMIT.replace("$(kind:scheduler)", "scheduler").replace(" $(procs:1)", "")

_LINE = re.compile(r"(\d+) (\S+) (\d+) (start|end|(?:pre|post)(?:-end)?) ([\d.]+) (-?\d+) ([\d.]+)")


class Line(NamedTuple):
    """A line of the ledger; `number` counts from 1."""

    number: int
    owner: int
    node: str
    retry: int
    what: str
    id: str
    extra: int
    time: float

    @property
    def cluster(self) -> int:
        """Of a job's line."""
        return int(self.id.partition(".")[0])

    @property
    def proc(self) -> int:
        """Of a job's line."""
        return int(self.id.partition(".")[2])


def programs(ledger: Path, directory: Path) -> dict[str, str]:
    """Name -> text of the files that nodes of a DAG in that directory need."""
    return {
        "job.sh": JOB.format(ledger=ledger),
        "script.sh": SCRIPT.format(ledger=ledger),
        "job.sub": SUBMIT,
        "bundled.sh": BUNDLED.format(directory=directory),
        "bundled.sub": MAY_BE_BUNDLED,
        "transferred.sub": TRANSFERRED,
        "one.sub": ONE,
    }


def parse(text: str) -> tuple[list[Line], list[str]]:
    """The lines, and those that are none."""
    lines, odd = [], []
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            odd.append(f"line {number} of the ledger: {line!r}")
            continue
        owner, node, retry, what, name, extra, time = match.groups()
        lines.append(
            Line(number, int(owner), node, int(retry), what, name, int(extra), float(time))
        )
    return lines, odd
