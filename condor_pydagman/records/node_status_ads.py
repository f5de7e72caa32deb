"""Reads a node status file back, that of the stock program as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Union

from condor_pydagman.records.own_ad import unquoted

Value = Union[int, str, "tuple[str, ...]"]
Ad = dict[str, Value]

_STRING = r'"(?:[^"\\]|\\.)*"'
_ATTRIBUTE = re.compile(
    rf"/\*.*?\*/|(\w+)\s*=\s*(?:({_STRING})|(-?\d+)|\{{((?:[^\"}}]|{_STRING})*)\}})\s*;"
    r"(?:[ \t]*/\*(.*?)\*/)?",
    re.DOTALL,
)
_STRINGS = re.compile(_STRING, re.DOTALL)
_OUTCOME_PATTERN = re.compile(r"STATUS_\w+ \((.*)\)", re.DOTALL)
OUTCOME = "Outcome"  # the word for the DAG's state, which the file has in a comment


def node_status_ads(text: str) -> Iterator[Ad]:
    """The ads of a node status file in its order, attributes as they are named there.

    The first has the Type "DagStatus", and the word for its state as OUTCOME; then come the
    "NodeStatus" ads and one "StatusEnd".  What is no attribute of a plain value is passed over.
    """
    ad: Ad = {}
    for found in _ATTRIBUTE.finditer(text):
        name, string, number, strings, comment = found.groups()
        if name is None:
            continue
        if name == "Type" and ad:
            yield ad
            ad = {}
        if string is not None:
            ad[name] = unquoted(string)
        elif number is not None:
            ad[name] = int(number)
        else:
            ad[name] = tuple(map(unquoted, _STRINGS.findall(strings)))
        outcome = _OUTCOME_PATTERN.search(comment) if comment and name == "DagStatus" else None
        if outcome:
            ad[OUTCOME] = outcome[1]
    if ad:
        yield ad
