"""DATA: a node that names a request file, as DAGMan had it until its version 8.

The command is a JOB of another kind, so the core reads and writes what stands in its line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import LANGUAGE, ROWS, CommandWord
from condor_pydagman.language.lexer import Words
from condor_pydagman.language.lines import Context
from condor_pydagman.language.node_lines import read_job, write_job
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

_NEEDS = "a request file, as in: DATA {} file.dap"


class NodeRow(NamedTuple):
    """As `features.common.rows.Row`, without parts."""

    word: str
    about: CommandWord
    example: str
    read: Callable[[Words, Context], Command]
    write: Callable[[Any], str] = write_job
    command: type[Any] = commands.Job
    parts: tuple[Any, ...] = ()
    groups: tuple[Any, ...] = ()


ROWS["DATA"] = NodeRow(
    "DATA",
    LANGUAGE["SERVICE"]._replace(
        word="DATA",
        usage=LANGUAGE["SERVICE"].usage.replace("SERVICE", "DATA"),
        summary="A node that moves data; see docs/data-placement.md.",
        after="SERVICE",
    ),
    "DATA D x",
    lambda words, context: read_job(words, context, NodeKind.DATA, _NEEDS),
)
