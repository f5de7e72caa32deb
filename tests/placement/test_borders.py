"""Data placement is a program beside DAGMan: work orders in, events and journals out, as files.

It could leave with its folder, `data_requests/`, and what `TAKEN` names.
"""

from __future__ import annotations

from pathlib import Path

from tests.test_style import PACKAGE, imported_modules

FOLDER = PACKAGE / "placement"
LANGUAGE = "condor_pydagman.data_requests"  # of requests, which DAGMan and the checker read too
# What it takes of the rest: the ground, files, the configuration, the formats of DAGMan's log.
TAKEN = {
    *("errors", "names", "named_tuple", "printable", "vocabulary", "words"),
    *("config", "config.knob"),
    "adapters.deleted_directories",
    *("adapters.files", "adapters.knobs", "adapters.python_child", "adapters.shared_directory"),
    *("records.own_events", "records.placement_event"),
    *("cli.say", "cli.subcommands", "cli.text_table"),  # of its commands
}
# Who may name its modules: the package's names of its functions, the command that DAGMan queues,
# and the name that its modules had.
DOORS = {"__init__.py", "cli/entry.py", "transfer/__init__.py"}


def test_what_placement_takes_of_the_rest() -> None:
    found = {name for path in FOLDER.rglob("*.py") for name in imported_modules(path)}
    own = {"condor_pydagman.placement", LANGUAGE}
    rest = {name for name in found if ".".join(name.split(".")[:2]) not in own}
    assert rest - {"condor_pydagman"} == {f"condor_pydagman.{name}" for name in TAKEN}


def test_the_language_of_requests_takes_less() -> None:
    for path in (PACKAGE / "data_requests").glob("*.py"):
        found = {name.split(".")[1] for name in imported_modules(path) if "." in name}
        assert found <= {
            "config",
            "data_requests",
            "errors",
            "language",
            "named_tuple",
            "printable",
            "vocabulary",
        }, path


def test_nothing_else_imports_placement() -> None:
    assert {path.as_posix() for path in _importers(FOLDER)} == DOORS


def _importers(folder: Path) -> list[Path]:
    return [
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if folder not in path.parents
        and any(
            f"{name}.".startswith("condor_pydagman.placement.") for name in imported_modules(path)
        )
    ]
