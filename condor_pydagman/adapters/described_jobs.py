"""What jobs a submit description makes.

These functions are called in a confined process (`adapters.foreign_texts`).
"""

from __future__ import annotations

import re
from typing import Any

from condor_pydagman.adapters import descriptions

MAX_JOBS = 3  # of a description whose commands are told
# In place of the number of a cluster, which nobody knows before: no description has it.
CLUSTER = "1000000007"
_RANDOM = re.compile(r"\$(?=RANDOM_(?:CHOICE|INTEGER)\()", re.I)  # another value at each reading
_PROGRAM = ("executable", "arguments", "shell", "initialdir", "input", "output", "error")
_IMAGES = ("container_image", "docker_image")
_FILES = ("output", "error", "log")


def number_of_jobs(text: str) -> int:
    """How many jobs it makes."""
    return descriptions.procs_of(descriptions.parse(text))


def commands(text: str) -> tuple[int, list[dict[str, str]]]:
    """How many jobs it makes; and what the first MAX_JOBS of them run, by submit commands."""
    description = descriptions.parse(text)
    items, each = descriptions.queued(description)
    jobs = len(items) * each
    for key, value in list(description.items()):
        if _RANDOM.search(value):
            description[key] = _RANDOM.sub("$(DOLLAR)", value)
    found = []
    for proc in range(min(jobs, MAX_JOBS)):
        descriptions.set_numbers(description, CLUSTER, proc, items, each)
        found.append(_values(description, (*_PROGRAM, *_IMAGES)))
    return jobs, found


def files(text: str, cluster: int, proc: int, number: int) -> list[dict[str, str]]:
    """Where so many jobs of a cluster, from `proc` on, write to, by submit commands."""
    description = descriptions.parse(text)
    try:
        items, each = descriptions.queued(description)
    except descriptions.BINDINGS:  # its items are not there any more
        items, each = [{}], 1
    found = []
    names = ("initialdir", "should_transfer_files", *_FILES, *(f"stream_{one}" for one in _FILES))
    for one in range(proc, proc + number):
        descriptions.set_numbers(description, str(cluster), one, items, each)
        found.append(_values(description, names))
    return found


def _values(description: Any, names: tuple[str, ...]) -> dict[str, str]:
    return {name: descriptions.expanded(description, name) for name in names}
