"""The engine as machine code, if this installation has it and it fits; else as Python.

`setup.py` compiles these modules with mypyc when CONDOR_PYDAGMAN_COMPILE=1 is set, into a directory
beside the package's own.  The sources stay, and are used wherever the compiled modules are not
there, are of other sources, are for another Python, or can't be loaded.  It is all or nothing: a
compiled module knows the layout of the others' objects.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location

# Modules of `engine/`.  Left out are those that are not worth it, or that mypyc can't compile,
# `engine` itself, which the simulator inherits from, and `queues`, `feature` and `hooks`, which
# features inherit from or build on: those stay Python.
MODULES = (
    *("dag_states", "node_states", "inputs", "actions", "throttles", "report", "jobs"),
    *("rules", "script_words", "run_records", "state", "lifecycle", "run_end", "provisioner"),
    *("scripts", "gated_nodes", "submission", "operator", "job_events", "journal_events"),
    *("event_matching", "reconcile", "dispatch"),
)
DIRECTORY = "_compiled"  # in the package: LIBRARY, STAMP, and engine/MODULE for each module
LIBRARY = "condor_pydagman__mypyc"  # mypyc puts all code into it, and imports it by this name
STAMP = "stamp"

PURE = "pure Python"
COMPILED = "compiled"


def engine_path(package: str) -> tuple[list[str], str]:
    """Directories in which modules of the engine are looked for before their sources, and why.

    Args:
        package: the directory of `condor_pydagman`.

    Returns:
        The directory of the compiled modules, or none; COMPILED or PURE, with the reason if there
        are compiled modules that are not used.
    """
    directory = os.path.join(package, DIRECTORY)
    try:
        with open(os.path.join(directory, STAMP), encoding="ascii") as file:
            stamp = file.read()
    except (OSError, ValueError):
        return [], PURE
    reason = _refusal(package, directory, stamp)
    if reason:
        return [], f"{PURE}; the compiled modules {reason}"
    return [os.path.join(directory, "engine")], COMPILED


def stamp_of(package: str) -> str:
    """What the stamp of modules holds that were compiled from the sources in `package`."""
    # Not hashlib, whose import takes longer than all this.
    from zlib import crc32

    found = 0
    for name in MODULES:
        with open(os.path.join(package, "engine", f"{name}.py"), "rb") as file:
            found = crc32(file.read(), found)
    return f"{sys.implementation.cache_tag} {found:08x}\n"


def _refusal(package: str, directory: str, stamp: str) -> str:
    """Why the compiled modules are not used, '' if they are."""
    suffix = EXTENSION_SUFFIXES[0]
    try:
        if stamp != stamp_of(package):
            return "are of another version or for another Python"
        library = os.path.join(directory, LIBRARY + suffix)
        names = os.listdir(os.path.join(directory, "engine"))
        if not os.path.isfile(library) or not {f"{name}{suffix}" for name in MODULES} <= set(names):
            return "are not complete"
        _load(library)
    except (OSError, ImportError) as error:
        return f"can't be loaded: {error}"
    return ""


def _load(library: str) -> None:
    """Load the library, which the modules import by its name.

    Raises:
        ImportError: it can't be.
    """
    spec = spec_from_file_location(LIBRARY, library)
    if spec is None or spec.loader is None:
        raise ImportError(f"{library} is no module")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[LIBRARY] = module
