"""Writes every generated file of the repository from the tables in the code.

Use: python -m tools.generate

A file that is not in step with its table fails `tests/unit/tools/test_generate.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools import (
    completion,
    config_example,
    decision_table,
    knob_page,
    man_pages,
    schemas,
    state_diagrams,
    timers,
    workflow_methods,
)

ROOT = Path(__file__).resolve().parents[1]


def files() -> dict[str, str]:
    """Text of each generated file, by its path below the root of the repository.

    Raises:
        PartError: a part of a man page does not fit the tables.
    """
    return {
        **{f"man/{name}": text for name, text in man_pages.pages().items()},
        "man/condor_pydagman_config.5": knob_page.text(),
        "etc/condor_config.d/50-condor-pydagman.config": config_example.text(),
        "docs/states.md": state_diagrams.text(),
        "docs/design.md": timers.document(ROOT / "docs/design.md"),
        "docs/decisions.md": decision_table.document(ROOT / "docs/decisions.md"),
        "condor_pydagman/workflow/methods.py": workflow_methods.text(),
        **completion.files(),
        **schemas.files(),
    }


def main() -> None:
    """Write all of them; the exit code is 1 if a man page's part has to be changed first."""
    try:
        found = files()
    except man_pages.PartError as error:
        sys.exit(f"tools/generate.py: {error}")
    for name, text in found.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
