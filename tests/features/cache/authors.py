"""One submit description as several authors write it: in another order, with comments, macros and
their defaults, other names and cases, and with commands that make no difference to what it makes.
"""

from __future__ import annotations

from random import Random

_EXECUTABLE = (
    "executable = /bin/run",
    "EXECUTABLE=/bin/run",
    "Cmd = /bin/run",
    "dir = /bin\nexecutable = $(dir)/run",
    "executable = /bin/$(program:run)",
    "executable = /bin/ruin\nexecutable = /bin/run",
)
_ARGUMENTS = (
    "arguments = -v {version} x",
    "arguments =   -v  {version}\tx  ",
    "v = {version}\narguments = -v $(v) x",
    "v = {other}\nv = {version}\nArgs = -v $(v) x",
    "arguments = -v $(nothing:{version}) x",
    "arguments = -v \\\n  {version} x",
    'arguments = "-v {version} x"',
)
_ENVIRONMENT = (
    'environment = "A=1 V={version}"',
    'Environment = "V={version}   A=1"',
    "environment = A=1;V={version}",
    'first = A=1\nenvironment = "$(first) V={version}"',
)
_HARMLESS = (
    "# why {other}",
    "",
    "   # executable = /bin/walk",
    "request_memory = {other}G",
    "RequestCpus = {other}",
    "priority = {other}",
    '+AccountingGroup = "g{other}"',
    "accounting_group = g{other}",
    "max_retries = {other}",
    "periodic_release = JobRunCount < {other}",
    "unused = {other}",
    "log = x.{other}.log",
)
_QUEUE = ("queue", "Queue 1", "queue\nqueue", "  queue  ")


def written(rng: Random, version: int) -> str:
    """A description; what its job does depends on `version` only."""
    parts = [rng.choice(one) for one in (_EXECUTABLE, _ARGUMENTS, _ENVIRONMENT)]
    parts += rng.sample(_HARMLESS, rng.randrange(5))
    rng.shuffle(parts)
    lines = [one.format(version=version, other=rng.randrange(1, 9)) for one in parts]
    return "\n".join((*lines, rng.choice(_QUEUE), ""))
