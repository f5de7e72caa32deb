"""The arguments that condor_dagman's command line begins with: those of an HTCondor daemon.

Stock condor_dagman is a DaemonCore program, and condor_submit_dag puts `-f -l .` (and `-p 0`)
before DAGMan's own options.  Stock takes any word that begins with a letter of such an option, so
that a `-lockfile`, `-priority` or `-alwaysrunpost` in first place is lost; we take whole words
only.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.errors import UsageError
from condor_pydagman.named_tuple import NamedTuple

_FLAGS = frozenset(("f", "b", "q", "t", "d", "foreground", "background", "quiet", "terminal"))
_WITH_VALUE = frozenset(
    (
        *("a", "append", "c", "config", "l", "log", "local-name", "p", "port", "pidfile"),
        *("r", "runfor", "sock"),
    )
)
_PORT = frozenset(("p", "port"))
_KILL = frozenset(("k", "kill"))
_VERSION = frozenset(("v", "version"))


class DaemonCore(NamedTuple):
    """What the leading arguments say, of which DAGMan obeys only the wish for the version and the
    port: it runs in the foreground, in the directory where it was started, and logs where
    `_CONDOR_DAGMAN_LOG` says, as stock does.

    Attributes:
        rest: the arguments behind them: DAGMan's own.
        version: whether the version is to be printed, and nothing else done.
        port: of the command socket; 0: there is to be none; None: any.
    """

    rest: tuple[str, ...]
    version: bool = False
    port: int | None = None


def split(argv: Sequence[str]) -> DaemonCore:
    """Take the daemon's arguments from the front of a command line (program name left out).

    Raises:
        UsageError: one of them lacks its value, or asks for what DAGMan can't do.
    """
    at, port = 0, None
    while at < len(argv) and argv[at].startswith("-"):
        word, at = argv[at][1:], at + 1
        if word in _VERSION:
            return DaemonCore((), version=True)
        if word in _KILL:
            raise UsageError("-k (kill the daemon of a pid file) is not for DAGMan; use condor_rm")
        if word in _WITH_VALUE:
            if at == len(argv):
                raise UsageError(f"DaemonCore: ERROR: -{word} needs another argument")
            if word in _PORT and argv[at].isdigit():
                port = int(argv[at])
            at += 1
        elif word not in _FLAGS:
            return DaemonCore(tuple(argv[at - 1 :]), port=port)
    return DaemonCore(tuple(argv[at:]), port=port)
