"""Checks of condor_submit that direct submission does not make.

Only the executable is checked: no input files, no directories of output files (25.14.1).
"""

from __future__ import annotations

import os
from typing import Any

from condor_pydagman.adapters.descriptions import expanded
from condor_pydagman.adapters.per_proc import values
from condor_pydagman.errors import PoolError

# With these the executable is only a label, for a cloud or a virtual machine.
_NO_FILE_UNIVERSES = ("vm", "13")
_NO_FILE_RESOURCES = ("ec2", "gce", "azure")


def check(description: Any) -> None:
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
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        reason = f"Can't access executable file {path}: {why}"
        raise PoolError(reason, transient=True) from None
