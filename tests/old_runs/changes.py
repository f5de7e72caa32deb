"""What later versions make of the kept runs in another way, on purpose: by which commit, and how.

Nothing else may differ from what the version said that has left them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from tests.old_runs.runs import ANSWERS


class Change(NamedTuple):
    """One change.

    Attributes:
        commit: that made it.
        old, new: a regular expression in the JSON of what was expected, and what replaces it.
        name: of the only run that it is about; '' for all.
    """

    commit: str
    old: str
    new: str
    name: str = ""


def _reason(node: str, reason: str, name: str, before: str = "") -> Change:
    """The rows of a report say why a node counts as done that has not run."""
    row = rf'("node": "{node}", {before})("status": "DONE")'
    return Change("3235330c", row, rf'\1"reason": "{reason}", \2', name)


CHANGES: dict[str, list[Change]] = {
    # By version, in their order: what has changed after it, for its runs and those of earlier ones.
    "9c2d7cb": [
        # Words of explanations.
        Change("6e3e2bb", "To go on where it was:", "To continue where it stopped:"),
        Change(
            "6e3e2bb",
            "the lock file is there and nobody holds it",
            "the lock file exists, but no process holds it",
        ),
        Change(
            "6e3e2bb",
            "What is said of jobs is by the files alone:",
            "What is said of jobs comes from the log files alone:",
        ),
        Change(
            "6e3e2bb",
            r"(\d+) is the exit code of a DATA node for: ([\w ]+)\.",
            r"Exit code \1 of a DATA node means: \2 (docs/data-placement.md).",
        ),
        Change(
            "30c2a60",
            "mend the program, and submit the DAG again: the rescue DAG runs it again",
            "Fix the program, then submit the DAG again to run it again (docs/growth.md).",
        ),
        Change("6e3e2bb", "The FEEDER has failed too often", "The FEEDER failed too often"),
        Change(
            "6e3e2bb",
            r"(Node \w+) can't run after the failure of ([\w -]+)\.",
            r"\1 can't run, because \2 failed.",
        ),
        Change(
            "6e3e2bb",
            "If nobody meant the job to be removed, the history has its RemoveReason:",
            "If nobody removed the job on purpose, see its RemoveReason in the history:",
        ),
        Change(
            "6e3e2bb",
            "it has removed the jobs of its nodes",
            "DAGMan removed the jobs of its nodes",
        ),
        Change("6e3e2bb", "When the cause is removed:", "When you have fixed the cause:"),
        Change(
            "6e3e2bb",
            "Submitted again, the DAG goes on from",
            "If you submit the DAG again, it continues from",
        ),
        Change("6e3e2bb", "Correct the submit file;", "Fix the submit file;"),
        Change(
            "6e3e2bb",
            "The limit is that of its TIMEOUT in the DAG file",
            "Its TIMEOUT in the DAG file sets the limit",
        ),
        Change(
            "6e3e2bb",
            "While the DAG runs, condor_pydagman steer rerun takes it back; later, submit the DAG"
            " again",
            "While the DAG is running, condor_pydagman steer rerun runs the node again; after that,"
            " submit the DAG again",
        ),
        Change("6e3e2bb", "somebody used condor_hold", "someone used condor_hold"),
        # What is advised when new nodes are refused.
        Change(
            "6c80f0c",
            r"Look for the node's name in t\.dag\.dagman\.out\.",
            "t.dag.dagman.out has all errors, with their lines and what can be done;"
            " condor_dag_checker -lint looks at the file as it is now.",
            "growth",
        ),
        # How the last job of a failed node ended.
        Change("875cfb3", r"(of C on \S+): left the queue", r"\1: exit code 0", "growth"),
        Change("875cfb3", r"(of C on \S+): left the queue", r"\1: removed", "lost_events"),
        # An eviction without a reason has none: the line below it was taken for one.
        Change("cdadd2c", r'"reason": "\(0\) CPU times", ', ""),
        # A site that a group has left rests, then gets one group at a time.
        Change(
            "13312d2",
            r'(\["MatchSites", \{"claims": \[\[0, "north-old"\], \[4, "north-old"\],'
            r' \[1, "south-old"\]\], )',
            r'\1"few": [["north-old", 1]], ',
            "sites",
        ),
    ],
    "8a454e1": [
        # A work order of before has no way gfal, which is among today's defaults.
        Change(
            "2968afd",
            r'("stall_timeout_s": 3000)\},',
            r'\1, "ways": ["module", "direct", "plugin", "cache"]},',
            "data",
        ),
        # A new or failing site gets few groups until one is done there.
        Change(
            "bf295983",
            r'"few": \[\["north-old", 1\]\], ',
            '"limits": {"resting": [["north-old", 0]], "trusted": ["south-old"], "untried": 3}, ',
            "sites",
        ),
        Change(
            "bf295983",
            r'(\["MatchSites", \{"claims": \[(?:(?:, )?\[\d, "\w+-old"\])*\], )"wanted"',
            r'\1"limits": {"trusted": ["north-old", "south-old"], "untried": 3}, "wanted"',
            "sites",
        ),
        _reason("A", "nothing has changed since it was last done", "cached"),
        _reason("small", "RUN_IF is false: Parents.A.size is 150", "conditions"),
        _reason("more", "all its parents are skipped", "conditions"),
        _reason("odd", "RUN_IF is false: Parents.A.size is 150", "conditions"),
        _reason("try4", "ENOUGH CATEGORY search 2", "enough"),
        _reason("try5", "ENOUGH CATEGORY search 2", "enough"),
        _reason("N", "RUN_IF is false: Parents.P.size is 150", "removed"),
        _reason(
            "C",
            "its PRE script returned the value of PRE_SKIP",
            "scripts",
            r'"pre_end": [\d.]+, "pre_start": [\d.]+, "pre_value": 5, ',
        ),
        _reason("S", "skip by nobody", "steered"),
        _reason("D", "done by nobody", "steered"),
        # The program of a FEEDER is told how many nodes it may add.
        Change(
            "865ecb87",
            r'(\["PYDAGMAN_FED_COUNT", "4"\], )',
            r'\1["PYDAGMAN_ROOM_COUNT", "1999996"], ',
            "fed",
        ),
    ],
    "865ecb87": [
        # Lost jobs are looked for early only where a job had ended when the look was planned.
        Change("0ee35c99", r'\["QueryQueue", \{\}\], (?=\["RunFeeder")', "", "removed_with_more"),
    ],
}


def updated(expected: dict[str, Any], kept: Path) -> dict[str, Any]:
    """What is expected today of a kept run; what is said of it was recorded anew for some.

    Raises:
        AssertionError: changes that are said to be about this run alone do not occur in it.
    """
    version, name = kept.parent.name, kept.name
    text = json.dumps(expected, sort_keys=True)
    versions = list(CHANGES)
    later = versions[versions.index(version) :]
    for change in (change for one in later for change in CHANGES[one]):
        if change.name in ("", name):
            text, number = re.subn(change.old, change.new, text)
            assert number or not change.name, f"{change} is not in {name}"
    wanted = dict(json.loads(text))
    newer = kept / ANSWERS
    if newer.exists():
        wanted["answers"] = json.loads(newer.read_text())
    return wanted
