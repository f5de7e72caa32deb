"""Events of nodes logs as HTCondor 25.14 and DAGMan write them, for tests of what reads them."""

from __future__ import annotations

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.records import own_events
from condor_pydagman.vocabulary import JournalRecord

WHEN = "2026-11-21 11:56:29"
HOST = "<192.0.2.17:9618?addrs=192.0.2.17-9618&alias=ap.example.org&noUDP&sock=schedd_1034_5c1a>"
USAGE = "".join(
    f"\t\tUsr 0 00:00:01, Sys 0 00:00:00  -  {what} Usage\n"
    for what in ("Run Remote", "Run Local", "Total Remote", "Total Local")
)
BYTES = "".join(
    f"\t{size}  -  {when} Bytes {way} By Job\n"
    for when, way, size in (
        ("Run", "Sent", 0),
        ("Run", "Received", 41848),
        ("Total", "Sent", 123456789012),
        ("Total", "Received", 41848),
    )
)
_RUN_USAGE = "".join(USAGE.splitlines(keepends=True)[:2])
_RUN_BYTES = "".join(BYTES.splitlines(keepends=True)[:2])
TABLE = (
    "\tPartitionable Resources :    Usage  Request Allocated \n"
    "\t   Cpus                 :     0.25        1         1 \n"
    "\t   Disk (KB)            :    22           22   3154713 \n"
    "\t   GPUs                 :                           0 \n"
    "\t   TimeExecute (s)      :        1                    \n"
)
SLOT = (
    '\tSlotName: slot1_1@host\n\tCondorScratchDir = "/var/lib/condor/execute/dir_9"\n'
    "\tCpus = 1\n\tDisk = 3154713\n\tMemory = 128\n"
)
_RECORDS = (
    AppendJournalRecord(
        JournalRecord.PRE_ENDED, 0, retry=2, value=-9, text='it said: "no"\\ and\nmore, ö'
    ),
    AppendJournalRecord(JournalRecord.JOB_LOST, 0, retry=0, cluster=7, proc=2),
    AppendJournalRecord(JournalRecord.JOB_ENDED, 0, retry=0, cluster=7, proc=-1),
)


def event(kind: int, text: str, *, job: str = "007.002.000", when: str = WHEN + ".877") -> str:
    """One event; the text is without the head and without the end."""
    return f"{kind:03d} ({job}) {when} {text}...\n"


def submitted(log_notes: str, what: str = "Job") -> str:
    """Text of a submit event."""
    return f"{what} submitted from host: {HOST}\n{log_notes}"


COMMON = (
    event(0, submitted('    [ DAGNodeName = "A+b.c [x]"; JobBatchName = "t.dag+190" ]\n')),
    event(0, submitted('    [ DAGNodeName = "Bö" ]\n')),
    event(0, submitted("    DAG Node: Bö\n")),
    event(0, submitted("")),
    event(0, submitted("    DAG Node: C\n"), when=WHEN),
    event(1, f"Job executing on host: {HOST}\n"),
    event(1, f"Job executing on host: {HOST}\n{SLOT}", job="123456.1.0"),
    event(5, f"Job terminated.\n\t(1) Normal termination (return value 3)\n{USAGE}{BYTES}"),
    event(5, f"Job terminated.\n\t(1) Normal termination (return value 0)\n{USAGE}{BYTES}{TABLE}"),
    *(
        event(
            5,
            "Job terminated.\n\t(0) Abnormal termination (signal 9)\n"
            f"\t{core}\n{USAGE}{BYTES}{TABLE}",
        )
        for core in ("(0) No core file", "(1) Corefile in: /scratch/core.7")
    ),
    event(9, "Job was aborted.\n"),
    event(9, "Job was aborted.\n\tvia condor_rm (by user me)\n"),
    event(12, "Job was held.\n\tno such file\n\tCode 13 Subcode 2\n"),
    event(13, "Job was released.\n", job="007.-01.-01"),
    event(13, "Job was released.\n\tvia condor_release (by user me)\n"),
    event(35, submitted('    [ DAGNodeName = "A"; JobBatchName = "b" ]\n', "Cluster")),
    event(36, "Cluster removed\n\tMaterialized 5 jobs from 5 items.\tComplete\n"),
    own_events.post_ended(WHEN, "Bö", 4, cluster=7, proc=0, subproc=0),
    own_events.post_ended(WHEN, "B", -15, cluster=-1, proc=0, subproc=0),
    own_events.pre_skip(WHEN, "B", 4),
    *(f"{whole}...\n" for whole in own_events.noop(WHEN, "A", 3).split("...\n")[:2]),
    *(own_events.record_event(WHEN, "Bö", record) for record in _RECORDS),
)

# Readable by the bindings, but not of a common form.
ODD = (
    event(0, submitted('    [ DAGNodeName = "with\\"quote"; JobBatchName = "b" ]\n')),
    event(0, submitted('    [ JobBatchName = "b"; DAGNodeName = "B" ]\n')),
    event(0, submitted('    [ DAGNodeName = "A"; JobBatchName = "b" ]\n    WARNING: odd\n')),
    event(0, submitted('    [ DAGNodeName = "A" ]\n').replace("\n", "\r\n")),
    event(0, submitted(""), when="11/21 11:56:29"),
    event(0, submitted(""), when=WHEN + "Z"),
    event(0, submitted(""), when="2026-02-30 11:56:29"),
    event(0, submitted(""), when="2026-11-21 23:59:60"),
    event(0, submitted(""), job="007.-02.000"),
    event(4, f"Job was evicted.\n\t(0) CPU times\n{_RUN_USAGE}{_RUN_BYTES}"),
    event(5, f"Job terminated.\n\t(1) Normal termination (return value 3)\n{USAGE}"),
    event(6, "Image size of job updated: 123\n\t1  -  MemoryUsage of job (MB)\n"),
    event(8, "somebody else's words\n"),
    event(8, '[ DAGManNote = "FROM_THE_FUTURE" ]\n'),
    event(12, "Job was held.\n\tReason unspecified\n\tCode 0 Subcode 0\n"),
    event(
        22,
        "Job disconnected, attempting to reconnect\n    why not\n"
        "    Trying to reconnect to slot1@b <b>\n",
    ),
    event(40, "Started transferring input files\n\tTransferring to host: <b>\n"),
    event(77, "Something new.\n\tmore\n"),
)
