"""What jobs a submit description makes.

These functions are called in a confined process (`adapters.foreign_texts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from condor_pydagman.adapters import descriptions

MAX_JOBS = 3  # of a description whose commands are told
# In place of what nobody knows before: no description has these numbers.
LATER = {
    **dict.fromkeys(("Cluster", "ClusterId"), "1000000007"),
    **{"SUBMIT_TIME": "1000000009", "YEAR": "1000000021", "MONTH": "1000000033"},
    "DAY": "1000000087",
}
# Another value at each reading, or none where these functions run.
_UNKNOWN = re.compile(r"\$(?=(?:RANDOM_CHOICE|RANDOM_INTEGER|ENV)\()", re.I)
_PROGRAM = ("executable", "arguments", "shell", "initialdir", "input", "output", "error")
_IMAGES = ("container_image", "docker_image")
_FILES = ("output", "error", "log")
COMMANDS = (int, [dict.fromkeys((*_PROGRAM, *_IMAGES), str)])  # shape of the answer of `commands`


def commands(text: str, most: int = MAX_JOBS) -> tuple[int, list[dict[str, str]]]:
    """How many jobs it makes; and what so many of them at most run, by submit commands."""
    description = descriptions.parse(text)
    items, each = descriptions.queued(description)
    jobs = len(items) * each
    made = fixed_jobs(description, items, each, range(min(jobs, most)))
    return jobs, [_values(job, (*_PROGRAM, *_IMAGES)) for job in made]


def fixed_jobs(
    description: Any, items: Sequence[Any], each: int, procs: Iterable[int]
) -> Iterator[Any]:
    """As `descriptions.jobs_of`, with what is not known before in one form, always the same."""
    for key, value in list(description.items()):
        if _UNKNOWN.search(value):
            description[key] = _UNKNOWN.sub("$(DOLLAR)", value)
    return descriptions.jobs_of(description, items, each, procs, LATER)


def files(text: str, macros: dict[str, str], proc: int, number: int) -> list[dict[str, str]]:
    """Where so many jobs, from `proc` on, write to, by submit commands.

    Args:
        macros: those of their submission.
    """
    description = descriptions.parse(text)
    try:
        items, each = descriptions.queued(description)
    except descriptions.BINDINGS:  # its items are not there any more
        items, each = [{}], 1
    names = ("initialdir", "should_transfer_files", *_FILES, *(f"stream_{one}" for one in _FILES))
    procs = range(proc, proc + number)
    made = descriptions.jobs_of(description, items, each, procs, macros)
    return [_values(job, names) for job in made]


def _values(description: Any, names: tuple[str, ...]) -> dict[str, str]:
    return {name: descriptions.expanded(description, name) for name in names}
