"""The one list of common input files that all jobs of a DAG may have.

HTCondor transfers such files to a machine once for many jobs (submit command
`transfer_common_input`, job attribute CommonInputFiles).  Stock DAGMan takes the first list that is
not empty for that of the DAG; a job with another one is not submitted, and its node fails.
"""

from __future__ import annotations

from condor_pydagman.vocabulary import COMMON_INPUT_DIFFERS

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
