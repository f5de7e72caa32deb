"""Where limits are defined: the administrator's knob, and a file of each user's own."""

from __future__ import annotations

import os
import pwd

from condor_pydagman.config import Config
from condor_pydagman.errors import ConfigError
from condor_pydagman.features.shared_limits.commands import LimitsOfDag
from condor_pydagman.features.shared_limits.definitions import Limit, parse, together, unknown
from condor_pydagman.graph.model import Dag

KNOB = "PYDAGMAN_SHARED_LIMITS"
OWN_FILE = ".condor/pydagman_limits"
PLACES = f"the administrator's {KNOB} and by ~/{OWN_FILE}"
_MAX_BYTES = 100_000


def own_path() -> str:
    """The file with this user's own limits; '' if the user has no home."""
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        try:
            home = pwd.getpwuid(os.geteuid()).pw_dir
        except KeyError:
            return ""
    return os.path.join(home, OWN_FILE)


def limits(knob: str, *, needs_own: bool = True) -> dict[str, Limit]:
    """All limits that this user's DAGs can name, by name in lower case.

    Args:
        knob: value of PYDAGMAN_SHARED_LIMITS without a DAG's own configuration.
        needs_own: whether a mistake in the user's file matters; if not, it counts as empty.

    Raises:
        ConfigError: the definitions have mistakes, or can't be read.
    """
    shared = parse(knob, KNOB)
    try:
        own = _own()
    except ConfigError:
        if needs_own:
            raise
        own = []
    return together(shared, own)


def _own() -> list[Limit]:
    """Those in the user's file."""
    path = own_path()
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return parse(file.read(_MAX_BYTES), path, own=True)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None


def unknown_limits(dag: Dag, config: Config) -> str:
    """What is wrong with the limits that a DAG names; '' if nothing is."""
    uses = LimitsOfDag.of(dag).uses
    if not uses:  # those that rules apply have been looked at
        return ""
    try:
        known = limits(config.shared_limits)
    except ConfigError as error:
        return str(error)
    for use in uses:
        if use.limit.lower() not in known:
            return unknown(use.limit, known, PLACES)
    return ""
