"""Which lines of `.dagman.out` appear at which level of detail, and what stands before each.

Levels as of -Debug and DAGMAN_VERBOSITY: 0 silent, 1 quiet, 2 normal, 3 verbose (the default), 4
to 7 debug.  Stock DAGMan says even at level 0 that it starts and ends, its knobs, its command line
and nodes that failed; at 1 what goes wrong, at 2 what is submitted and what scripts do, at 3 each
event and the status table.
The words before a line are HTCondor's: manual, section "Logging", <SUBSYS>_DEBUG.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from condor_pydagman.named_tuple import NamedTuple

DEFAULT_LEVEL = 3

# Beginnings of lines, by the level at which stock says them; what is not here is of level 3.
_LEVELS = (
    (
        0,
        r"\*\*|Using (?:config source|DAGMan config file)|Daemon Log is logging|DaemonCore:|argv\["
        r"|Administrator set throttle|[A-Z_]+ setting: |allow_events |Workflow |MultiLogFiles: "
        r"|Got SIG"
        r"|DAGMan will|No HTCondor ID|Running: |Recursive submit|To view condor_dagman usage"
        # a node that failed
        r"|-{20}| +Node Name: | +Noop: | +NodeID: | +Node Status: |Node return val: | +Error: "
        r"|Job Submit File: | +(?:PRE|POST|HOLD) Script: | +Retry: | HTCondor Job ID: |PARENTS: ",
    ),
    (
        1,
        r"ERROR|Error|\.\.\. ERROR|Aborting DAG|Failed to |Processing error|Submit warning"
        r"|Could not |Node submit failed|PRE Script of (?:Node .* failed|node .* died)"
        r"|Node \S+ job proc .* failed|Starting (?:final|service|provisioner) node"
        r"|Received SIG|Lock file ",
    ),
    (
        2,
        r"Warning|WARNING|Note: |Default node log file|Setting DAGMan throttles|\tMaximum "
        r"|Running (?:PRE|POST|HOLD) script|(?:PRE|POST|HOLD) Script of node|Deferring "
        r"|Submitting |Node \S+ job|Shortcutting |Aborting further|PRE_SKIP|Removing "
        r"|Writing |Processing node|\d+ nodes claim"
        r"|Running in RECOVERY|\.\.\.done with RECOVERY|Job submit try"
        r"|All jobs Completed|Wrote metrics file|Unable to write",
    ),
)
_LINE = "|".join(f"({pattern})" for _, pattern in _LEVELS)


def level_of(line: str) -> int:
    """The level at which stock DAGMan says a line."""
    match = re.match(_LINE, line)  # compiled when first needed: the default shows all
    if match is None or match.lastindex is None:
        return DEFAULT_LEVEL
    return _LEVELS[match.lastindex - 1][0]


class Header(NamedTuple):
    """What stands before each line."""

    # of the local time, for strftime; '' for seconds since the epoch
    time_format: str = "%m/%d/%y %H:%M:%S"
    milliseconds: bool = False  # whether they follow the time
    descriptor: bool = False  # whether a free file descriptor is told (D_FDS)
    pid: bool = False  # whether the process id is told (D_PID)
    # whether the number of the request that is served is told (D_IDENT): always 0
    identity: bool = False
    # whether the kind of message is told (D_CAT): D_ALWAYS, as in stock, or D_TEST
    category: bool = False

    def words(self, pid: int, descriptor: int) -> str:
        """What stands between the time and the text, a blank behind each word."""
        told = (
            (self.descriptor, f"(fd:{descriptor}) "),
            (self.pid, f"(pid:{pid}) "),
            (self.identity, "(cid:0) "),
            (self.category, "(D_ALWAYS) "),
        )
        return "".join(word for wanted, word in told if wanted)


_FLAGS = {
    "D_SUB_SECOND": "milliseconds",
    "D_FDS": "descriptor",
    "D_PID": "pid",
    "D_IDENT": "identity",
    "D_CAT": "category",
    "D_CATEGORY": "category",
    "D_LEVEL": "category",
}


def wants_tests(flags: Iterable[str]) -> bool:
    """Whether the texts of ALL_DEBUG and DAGMAN_DEBUG ask for lines of the kind D_TEST; `-D_TEST`
    takes nothing back, as in stock."""
    words = (word.partition(":") for text in flags for word in _words(text))
    return any(name in ("D_TEST", "D_ALL", "D_ANY") and level != "0" for name, _, level in words)


def _words(flags: str) -> list[str]:
    return re.split(r"[\s,|]+", flags.strip().upper())


def header(flags: Iterable[str], time_format: str = "", epoch: bool = False) -> Header:
    """The header that the configuration asks for.

    Args:
        flags: texts of ALL_DEBUG and DAGMAN_DEBUG, in this order; `-D_X` takes D_X back.  Words
            that are no header flag are left alone: they concern HTCondor's own libraries.
        time_format: DEBUG_TIME_FORMAT, '' for the default.
        epoch: LOGS_USE_TIMESTAMP.
    """
    wanted: dict[str, bool] = {}
    for text in flags:
        for word in _words(text):
            name = word.lstrip("-").partition(":")[0]
            if name in _FLAGS:
                wanted[_FLAGS[name]] = not word.startswith("-")
            elif name == "D_TIMESTAMP":
                epoch = not word.startswith("-")
    if epoch:
        return Header(time_format="", **wanted)
    return Header(**wanted, time_format=time_format or Header().time_format)
