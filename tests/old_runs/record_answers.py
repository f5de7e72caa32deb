"""Keeps what the version that is checked out says of the kept runs, where that is another thing.

    .venv/bin/python -m tests.old_runs.record_answers

Once, when the readers of a DAG were made anew: until then each of them derived the states of nodes
on its own.  Whoever runs it reads the difference of each file, and says in the commit why it is
right; a smaller change is a row of `changes.py`.
"""

from __future__ import annotations

import json

from tests.old_runs.changes import updated
from tests.old_runs.readers import expectations
from tests.old_runs.runs import ANSWERS, all_runs, json_text


def main() -> None:
    """Write or remove the file of each run."""
    for kept in all_runs():
        before = updated(json.loads((kept / "expected.json").read_text()), kept)
        told = json.loads(json_text(expectations(kept)["answers"]))
        if told == before["answers"]:
            continue
        (kept / ANSWERS).write_text(json_text(told))


if __name__ == "__main__":
    main()
