"""Commands of a node's submit description that the job of a bundle can't have as they are: it has
another initial directory, and several nodes run in it side by side."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping

from condor_pydagman.language.description import expand

URL = re.compile(r"^[A-Za-z][\w+.-]*://")
DEFAULTS = ("request_cpus", "request_memory")  # of which the access point says what is asked for

# Commands that name a file, relative to the initial directory.
_FILES = (
    *("container_image", "containerimage", "singularity_image"),
    *("x509userproxy", "scitokens_file", "scitokensfile"),
    *(f"{who}_access_key_id_file" for who in ("aws", "gs", "s3")),
    *(f"{who}_secret_access_key_file" for who in ("aws", "gs", "s3")),
    *("starter_log", "jobstarterlog"),
)
_OTHER_NAMES = {
    "requestcpus": "request_cpus",
    "requestmemory": "request_memory",
    "requestdisk": "request_disk",
}
_REQUEST = re.compile(r"request_\w+|(?:\+|my\.)request\w+")
_LIMITS = "concurrency_limits"
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def files_of_job(values: Mapping[str, str], directory: str) -> Iterator[tuple[str, str]]:
    """Commands that name files by a path relative to a node's initial directory, and the whole
    path; what nobody can know is left as it is.

    Args:
        values: of commands and macros, by names in lower case.
    """
    for key in _FILES:
        path = expand(values.get(key, ""), values.get)
        if path and not (os.path.isabs(path) or URL.match(path)):
            yield key, os.path.join(directory, path)


def requests_of_job(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What a node's job asks for, by commands."""
    for key, value in values.items():
        if key in _OTHER_NAMES or key == _LIMITS or _REQUEST.fullmatch(key):
            yield _OTHER_NAMES.get(key, key), expand(value, values.get) or value


def for_several(requests: Mapping[str, str], number: int) -> Iterator[tuple[str, str]]:
    """What so many of such nodes ask for side by side."""
    for key, value in requests.items():
        yield key, (_places if key == _LIMITS else _times)(value, number)


def _times(value: str, number: int) -> str:
    amount = _AMOUNT.fullmatch(value)
    if amount is None:
        return f"({value}) * {number}"
    return f"{float(amount[1]) * number:.15g}{amount[2]}"


def _places(limits: str, number: int) -> str:
    """Names of limits, each with how many of its places a job takes."""
    named = [one.partition(":") for one in limits.replace(",", " ").split()]
    return ", ".join(f"{name}:{_times(places or '1', number)}" for name, _, places in named)
