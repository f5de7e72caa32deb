"""Where the personal pool and the fetched HTCondor are kept on disk.

Both follow the XDG base directory rules.  Root without user namespaces is the exception: the pool
then runs as another account, which can't look into root's home, so the system's own places serve.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

NAME = "condor_pydagman"
POOL_VARIABLE = "PYDAGMAN_POOL"


def pool_directory(environ: Mapping[str, str], shared: bool) -> Path:
    """Directory of the pool when none is named.

    Args:
        environ: the environment; $PYDAGMAN_POOL wins, then $XDG_DATA_HOME.
        shared: True if an account other than the caller's must be able to use it.
    """
    chosen = environ.get(POOL_VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    return _base(environ, "XDG_DATA_HOME", ".local/share", "/var/lib", shared) / NAME / "pool"


def cache_directory(environ: Mapping[str, str], shared: bool) -> Path:
    """Directory that holds a fetched HTCondor; arguments as of `pool_directory`."""
    return _base(environ, "XDG_CACHE_HOME", ".cache", "/var/cache", shared) / NAME / "htcondor"


def _base(environ: Mapping[str, str], variable: str, home: str, system: str, shared: bool) -> Path:
    chosen = environ.get(variable, "")
    if os.path.isabs(chosen):  # the XDG rules say to ignore a relative path
        return Path(chosen)
    if shared:
        return Path(system)
    return Path(environ.get("HOME") or os.path.expanduser("~")).absolute() / home


def commands_directory() -> str:
    """Directory of our own commands: where the console scripts of this Python are.

    A virtual environment keeps them beside its interpreter; `pip install --user` does not.
    """
    candidates = [os.path.dirname(sys.executable), sysconfig.get_path("scripts")]
    if os.path.basename(sys.argv[0]) == NAME:
        candidates.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    if f"{os.name}_user" in sysconfig.get_scheme_names():
        candidates.append(sysconfig.get_path("scripts", f"{os.name}_user"))
    for directory in candidates:
        if os.access(os.path.join(directory, "condor_dagman"), os.X_OK):
            return directory
    return candidates[0]
