"""The core: what condor_submit_dag and condor_dagman are made of, as a tree of its own.

`copy` makes that tree.  It has the table of features and none of their folders: the core must run
without them.  A new module of a folder below belongs to the core; one that nothing of the core
imports belongs elsewhere.
"""

from __future__ import annotations

import shutil
import sys
from importlib.util import cache_from_source
from pathlib import Path

from tests.installation import CHECKOUT

PACKAGE = "condor_pydagman"
FOLDERS = (
    *("config", "language", "graph", "engine", "records", "adapters", "daemon", "dagman_job"),
)
FILES = (
    *("__init__", "compiled", "errors", "named_tuple", "names", "printable", "timers"),
    *("vocabulary", "features/__init__", "feature_table"),
    *("cli/__init__", "cli/dagman", "cli/entry", "cli/submit_dag", "cli/usage"),
)
# Modules of these folders that the core does not use: what several programs around DAGMan share,
# in the lowest layer of them.
NOT_OF_THE_CORE = (
    *("adapters/confined_reader", "adapters/confinement", "adapters/deleted_directories"),
    *("adapters/described_jobs", "adapters/detached_process", "adapters/followed_files"),
    *("adapters/foreign_texts", "adapters/python_child", "adapters/request_client"),
    "adapters/shared_directory",
    *("records/dagman_out", "records/node_status_ads", "records/placement_event"),
)
# Where commands of the core hand over to what stands around it, with a late import.
DOORS = {
    "cli/entry": ("cli.dag_checker", "cli.pydagman", "placement.data_node"),
    "cli/submit_dag": ("lint.preflight",),
}
COMMANDS = ("condor_dagman", "condor_submit_dag")
_COMMAND = """\
#!{python}
import sys

sys.path.insert(0, {tree!r})
from condor_pydagman.cli import entry

assert entry.__file__.startswith({tree!r}), entry.__file__
entry.{command}()
"""


def paths() -> list[Path]:
    """The files of the core, in this checkout."""
    package = CHECKOUT / PACKAGE
    left_out = {package / f"{name}.py" for name in NOT_OF_THE_CORE}
    assert all(path.exists() for path in left_out)
    found = [path for folder in FOLDERS for path in sorted((package / folder).rglob("*.py"))]
    found = [path for path in found if path not in left_out]
    return [*(package / f"{name}.py" for name in FILES), *found]


def copy(tree: Path) -> None:
    """Make the core, with its commands in `bin`, in a new directory."""
    for path in paths():
        for file in (path, Path(cache_from_source(path))):
            if file.exists():
                place = tree / file.relative_to(CHECKOUT)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, place)  # what is compiled has the time of its source
    (tree / "bin").mkdir()
    for command in COMMANDS:
        text = _COMMAND.format(python=sys.executable, tree=str(tree), command=command)
        (tree / "bin" / command).write_text(text)
        (tree / "bin" / command).chmod(0o755)
