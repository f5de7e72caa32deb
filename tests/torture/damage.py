"""Damage to files: a truncated log, a full disk; and which jobs lose events by it."""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from pathlib import Path
from random import Random

_EVENT = re.compile(r'(?:^\d{3} \(|; Job = ")(\d+)\.', re.M)
_NODE = re.compile(r'(?:DAGNodeName|; Node) = "([^"]+)"|DAG Node: (\S+)')


def cut(log: Path, random: Random) -> str:
    """Truncate a log at a random byte; a copy of it as it was stays beside it.

    Returns:
        What was done.
    """
    data = log.read_bytes()
    place = random.randint(len(data) // 3, len(data))
    log.with_name(f"{log.name}.whole").write_bytes(data)
    log.with_name(f"{log.name}.cut").write_text(f"{place}\n")
    os.truncate(log, place)
    return f"the nodes log was cut at byte {place} of {len(data)}"


def hurt_by_cut(log: Path) -> tuple[set[int], set[str]]:
    """Clusters of which the cut destroyed an event, or the one that was written over the seam; and
    nodes that such an event names, since it need not be one of a job."""
    place = int(log.with_name(f"{log.name}.cut").read_text())
    whole = log.with_name(f"{log.name}.whole").read_text(errors="surrogateescape")
    begin = whole.rfind("...\n", 0, place)
    gone = whole[begin + 4 if begin >= 0 else 0 :]
    now = log.read_text(errors="surrogateescape")
    seam = now.find("\n...\n", place)
    hurt = gone + now[place : seam + 1]
    return {int(number) for number in _EVENT.findall(hurt)}, {
        a or b for a, b in _NODE.findall(hurt)
    }


def whole(log: Path) -> dict[int, int]:
    """Cluster -> jobs whose end the log shows, of those whose submit event it shows."""
    text = log.read_text(errors="surrogateescape") if log.exists() else ""
    submitted = re.findall(r"^000 \((\d+)\.", text, re.M)
    ends = Counter(re.findall(r"^005 \((\d+)\.", text, re.M))
    return {int(cluster): ends[cluster] for cluster in submitted}


def fill(path: Path) -> int:
    """Write until the disk has no byte left; returns how many there were."""
    written = 0
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        for size in (1 << 16, 1 << 12, 1):
            while True:
                try:
                    written += os.write(fd, b"\0" * size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    break
    finally:
        os.close(fd)
    return written
