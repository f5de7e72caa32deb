"""Submit descriptions as programs give them: the name of a file, a `dict`, an htcondor2.Submit."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Union

from condor_pydagman.language.description import queue_arguments

Description = Union[str, "os.PathLike[str]", Mapping[str, Any]]

_KEY = re.compile(r"[+]?[A-Za-z_][\w.]*", re.ASCII)
_INDENT = "    "


def is_file(description: object) -> bool:
    """Whether it is the name of a file, or of a description of the DAG."""
    return isinstance(description, (str, os.PathLike))


def lines(description: object) -> str:
    """The lines of a description that stands in the DAG file.

    Raises:
        TypeError: it is none, or one of its values is none.
        ValueError: one of its values has more than one line, or a name is none.
    """
    if not hasattr(description, "items"):
        kind = type(description).__name__
        raise TypeError(
            f"a submit description is a file, a dict or an htcondor2.Submit, not {kind}"
        )
    queue = getattr(description, "getQArgs", str)()  # of an htcondor2.Submit
    if queue.strip() not in ("", "1"):
        raise ValueError(f"a node's description can't queue {queue}: write it into a file")
    found = (_line(key, value) for key, value in description.items())
    return "\n".join(_INDENT + line for line in found)


def _line(key: object, value: object) -> str:
    if (
        not isinstance(key, str)
        or not _KEY.fullmatch(key)
        or queue_arguments(f"{key} =") is not None
    ):
        raise ValueError(f"{key!r} can't be a name in a submit description")
    if isinstance(value, (bytes, list, tuple, set, Mapping)) or callable(value):
        kind = type(value).__name__
        raise TypeError(f"the value of {key} in a submit description can't be a {kind}: {value!r}")
    shown = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    if re.search(r"[\n\r\0]", shown):
        raise ValueError(f"the value of {key} in a submit description must be one line: {shown!r}")
    if shown.rstrip().endswith("\\"):
        raise ValueError(f"the value of {key} in a submit description ends in a \\: {shown!r}")
    return f"{key} = {shown}".rstrip()
