"""What HTCondor's submit language warns of in a description, besides unused lines.

The texts are HTCondor's; the bindings do not return them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from condor_pydagman.graph.lint.statement_names import ReadFile
from condor_pydagman.graph.lint.unused_lines import MISSPELLED, unused_lines

_OBSOLETE = "Requirements expression refers to TARGET.{0}. This is obsolete. Set request_{1} and"
_OBSOLETE += " condor_submit will modify the Requirements expression as needed."
_TARGETS = (("your", "Memory"), ("Your", "Disk"))
_INCREASE = "WARNING: retry_request_memory_increase will be ignored because retry_request_memory"
_INCREASE += " was used"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_MIN_LEASE_S = 20  # seconds, the shortest
_NUMBER = re.compile(r"[0-9]{1,9}")
_UNITS = {
    "request_memory": "defaults to megabytes, but should contain a units suffix (i.e K, M, G or T)",
    "request_disk": "defaults to kilobytes, should contain a units suffix (i.e K, M, or B)",
}
_STATEMENT = re.compile(r"\s*(if|endif|queue|warning)\b\s*(:?)(.*)", re.IGNORECASE)

Expand = Callable[[str], str]


def remarks(
    values: Mapping[str, str],
    expand: Expand,
    *,
    queue: str = "",
    text: str = "",
    written: str = "",
    read_file: ReadFile = lambda path: None,
    name: str = "",
    by: str = "DAGMAN",
    missing_units: bool = False,
) -> list[str]:
    """Every warning, in the order in which stock shows them.

    Args:
        values: value of each line's key, as it is written.
        expand: replaces the macros in a text.
        queue, text, read_file: as for `unused_lines`.
        written: the part of `text` that its author wrote, '' for all of it.
        name: what `warning :` statements call the description.
        by: who reads it.
        missing_units: whether sizes without units are warned of (SUBMIT_REQUEST_MISSING_UNITS).
    """
    lower = {key.lower(): value for key, value in values.items()}
    found = [one.message(by) for one in unused_lines(values, queue, text, read_file)]
    found += _of_values(lower, expand)
    if "retry_request_memory" in lower and "retry_request_memory_increase" in lower:
        found.append(_INCREASE)
    if missing_units:
        found += _without_units(lower, expand)
    found += [
        f"{wrong} is not a valid submit keyword, did you mean {right}?"
        for wrong, right in reversed(list(MISSPELLED.items()))
        if wrong in lower
    ]
    return found + list(_warnings(written or text, name, expand))[::-1]


def _of_values(values: Mapping[str, str], expand: Expand) -> Iterator[str]:
    if "output_destination" in values and "://" not in expand(values["output_destination"]):
        yield "output_destination must be a URL, did you mean output_directory ?"
    requirements = _STRING.sub("", expand(values.get("requirements", "")))
    for word, target in _TARGETS:
        if re.search(rf"\b{target}\b", requirements, re.IGNORECASE):
            yield f"{word} {_OBSOLETE.format(target, target.lower())}"
    lease = expand(values.get("job_lease_duration", "")).strip()
    if _NUMBER.fullmatch(lease) and 0 < int(lease) < _MIN_LEASE_S:
        yield "JobLeaseDuration less than 20 seconds is not allowed, using 20 instead"
    if values.get("accounting_group") and expand(values.get("nice_user", "")).lower() == "true":
        yield "nice_user conflicts with accounting_group. nice_user will be ignored"


def _without_units(values: Mapping[str, str], expand: Expand) -> Iterator[str]:
    for key, words in _UNITS.items():
        value = expand(values.get(key, "")).strip()
        if value.isdigit():
            yield f"WARNING: {key}={value} {words}"


def _warnings(text: str, name: str, expand: Expand) -> Iterator[str]:
    """`warning :` statements; those inside of `if` are left out, since it may be false."""
    if "warning" not in text.lower():
        return
    depth = 0
    for number, line in enumerate(text.split("\n"), 1):
        statement = _STATEMENT.match(line)
        word = statement[1].lower() if statement is not None else ""
        depth += {"if": 1, "endif": -1}.get(word, 0)
        if statement is None or depth:
            continue
        if word == "queue":
            return
        if word == "warning" and statement[2]:
            yield f'Warning "{name}", Line {number}: {expand(statement[3].strip())}'
