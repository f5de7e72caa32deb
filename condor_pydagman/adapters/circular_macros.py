"""Macros of the configuration that refer to each other in a circle.

HTCondor's library never comes back from expanding one, nor can a process be told so: it has to be
known before.  Files are read as text here, without their conditions; what looks like a circle is
tried by a child process, which the kernel ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from condor_pydagman.adapters.macros import ASSIGNMENT, expanded
from condor_pydagman.errors import ConfigError

CPU_S = 2  # that a configuration may take to be expanded
_REFERENCE = re.compile(r"\$\(([\w.]+)")


def refuse_circles(lines: Iterable[str]) -> None:
    """Refuse a configuration of these lines, and of the environment, that can't be expanded.

    Raises:
        ConfigError: the message names a macro of the circle.
    """
    variables = ((name[len("_CONDOR_") :], name, value) for name, value in os.environ.items())
    added = (f"{of} = {value}" for of, name, value in variables if name == f"_CONDOR_{of}")
    for name in suspects((*lines, *added)):
        child = os.fork()
        if child == 0:
            limit_cpu()
            expanded(name)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) < 0:
            raise ConfigError(
                f"ERROR: the configuration can't be read: {name} refers to itself, by way of other"
                " macros. condor_config_val hangs at it, too: correct the files that set them"
            )


def suspects(lines: Iterable[str]) -> list[str]:
    """Macros from which a circle is reached, if the last line that sets each is in force."""
    refers: dict[str, set[str]] = {}
    for line in lines:
        found = ASSIGNMENT.match(line)
        if found:
            name, used = found[1].upper(), _REFERENCE.findall(line, found.end())
            refers[name] = {other.upper() for other in used} - {name}  # that is what it was before
    while True:
        ended = [name for name, others in refers.items() if refers.keys().isdisjoint(others)]
        if not ended:
            return list(refers)
        for name in ended:
            del refers[name]


def limit_cpu() -> None:
    """Have the kernel end this process, without a core file, when it has taken too long."""
    import resource  # late: only child processes need it

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
