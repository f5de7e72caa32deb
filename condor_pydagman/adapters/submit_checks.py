"""What is looked at in a submit description before its jobs are submitted: checks of condor_submit
that direct submission does not make, common input files, and what HTCondor warns of.

Of condor_submit's checks that of the executable: of no input files, nor directories of output files
(25.14.1).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import classad2

from condor_pydagman.adapters import bindings, files
from condor_pydagman.adapters.descriptions import (
    BINDINGS,
    expanded,
    expanded_text,
    jobs_of,
    materializes_late,
    queued,
)
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.language.submit_warnings import remarks
from condor_pydagman.vocabulary import COMMON_INPUT_DIFFERS

# The one list of common input files that all jobs of a DAG may have.
#
# HTCondor transfers such files to a machine once for many jobs (submit command
# `transfer_common_input`, job attribute CommonInputFiles).  Stock DAGMan takes the first list that
# is not empty for that of the DAG; a job with another one is not submitted, and its node fails.

# Longer lists are remembered by their digest: a record in the nodes log has no room for them.
MAX_LIST_LENGTH = 300


def attribute(files: str) -> str:
    """CommonInputFiles that the submit language makes of a value of `transfer_common_input`."""
    text = files.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return ",".join(filter(None, (name.strip() for name in text.split(","))))


def token(files: str) -> str:
    """What stands for a list in the engine and in the nodes log; equal for equal lists only."""
    data = files.encode("utf-8", "surrogateescape")
    if len(data) <= MAX_LIST_LENGTH and files.isprintable():
        return files
    import hashlib  # late: it is large, and rarely needed

    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def difference(known: str, files: str) -> str:
    """The reason for which a job with `files` is refused; `known` is the DAG's token."""
    theirs = "another" if known.startswith("sha256:") else f"'{known}'"
    compared = f"that of this job is '{token(files)}', that of the DAG is {theirs}"
    return f"{COMMON_INPUT_DIFFERS} ({compared})"


# The value that a line of a submit description has for each proc.
#
# The bindings expand macros, but make the procs only when they submit; so this module expands them
# for each item of the queue statement.

# Further procs are not checked: a schedd accepts at most 20,000 in one cluster, unless configured
# otherwise (MAX_JOBS_PER_SUBMISSION), and a wrong count must not keep DAGMan busy.
MAX_PROCS = 100_000


def values(description: Any, key: str) -> Iterator[str]:
    """The value of `key`, which the description has, for each proc in order; '' for an empty one.

    A value without macros is returned once.  With late materialization only the first proc's ad is
    made when the cluster is submitted, so only its value is returned.  The description is not
    changed.  If its items can't be read there are no values: the submission reports the error.
    """
    if "$" not in description[key] or not description.getQArgs().strip():
        yield expanded(description, key)
        return
    try:
        items, each = queued(description)
    except BINDINGS:
        return
    most = 1 if materializes_late(description) else MAX_PROCS
    for job in jobs_of(description, items, each, range(min(len(items) * each, most))):
        yield expanded(job, key)


# With these the executable is only a label, for a cloud or a virtual machine.
_NO_FILE_UNIVERSES = ("vm", "13")
_NO_FILE_RESOURCES = ("ec2", "gce", "azure")


def check_executable(description: Any) -> None:
    """Check that the executable of each proc can be read, from the current directory.

    The description is not changed.

    Raises:
        PoolError: it can't be read; the text is condor_submit's.
    """
    key = next((key for key in ("executable", "cmd") if description.get(key)), "")
    if not key or description.get("shell") or not _is_a_file(description):
        return
    for path in values(description, key):
        if path and "://" not in path:
            _check_readable(path.strip('"'))


def _is_a_file(description: Any) -> bool:
    transferred = _expanded_lower(description, "transfer_executable")
    if transferred in ("false", "f", "no", "n", "0"):
        return False
    universe = _expanded_lower(description, "universe")
    resource = _expanded_lower(description, "grid_resource").split(None, 1)
    cloud = universe in ("grid", "9") and resource[:1] and resource[0] in _NO_FILE_RESOURCES
    return universe not in _NO_FILE_UNIVERSES and not cloud


def _expanded_lower(description: Any, key: str) -> str:
    return expanded(description, key).strip().lower() if description.get(key) else ""


def _check_readable(path: str) -> None:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        reason = f"Can't access executable file {path}: {why}"
        raise PoolError(reason, transient=True) from None


# Finds the lists of common input files of the jobs of a submit description.
#
# The bindings make a job's ad only when they submit it, so the attribute and the submit commands
# that give such a list are read here; `adapters.submit_checks` explains their use.

_AS_ATTRIBUTE = "MY.CommonInputFiles"  # `+CommonInputFiles` too
_AS_COMMANDS = ("transfer_common_input", "CommonInputFiles")


class FirstList(Exception):
    """The jobs are the DAG's first with a list; `token` stands for the list."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token


def check_common_input(description: Any, known: str) -> None:
    """Compare the lists of a description with `known`, the DAG's ('' if it has none so far).

    Raises:
        FirstList: none is known and there is one.
        PoolError: the list differs, so the jobs must not be submitted.
    """
    for common in lists(description):
        if common and not known:
            raise FirstList(token(common))
        if common is not None and known and token(common) != known:
            raise PoolError(difference(known, common), transient=False)


def lists(description: Any) -> Iterator[str | None]:
    """CommonInputFiles of the procs of a description, in their order; None: a proc has none.

    See `values` for how.
    """
    key = next((key for key in (_AS_ATTRIBUTE, *_AS_COMMANDS) if description.get(key)), "")
    if not key:
        return
    for value in values(description, key):
        if not value:
            yield None
        else:
            yield _evaluated(value) if key == _AS_ATTRIBUTE else attribute(value)


def _evaluated(value: str) -> str | None:
    try:
        found = classad2.ExprTree(value).eval()
    except (classad2.ClassAdException, ValueError, RuntimeError, TypeError):
        return None  # the submission reports the error
    return found if isinstance(found, str) else None


# Stock's warnings about a submit description, from the bindings' reading of it.


def remarks_of(
    description: Any, text: str, *, written: str = "", name: str = "", by: str = "DAGMAN"
) -> list[str]:
    """Every warning about a description, in stock's order and words.

    Args:
        description: the bindings' reading of `text`; it is not changed.
        written: the part that its author wrote, if `text` has more.
        name: its name in messages.
        by: the program in messages, DAGMAN or condor_submit.
    """

    def expand(value: str) -> str:
        try:
            return expanded_text(description, value) if "$" in value else value
        except BINDINGS:
            return ""

    units = str(bindings.expanded("SUBMIT_REQUEST_MISSING_UNITS") or "")
    return remarks(
        dict(description),
        expand,
        queue=description.getQArgs(),
        text=text,
        written=written,
        read_file=_read_file,
        name=name,
        by=by,
        missing_units=units.strip().lower() == "warn",
    )


def _read_file(path: str) -> str | None:
    try:
        return files.read_text(path)
    except (OSError, FileError):
        return None
