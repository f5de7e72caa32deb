"""The SYNTAX table: all command words of the DAG language, and how the line of each is read.

Messages and usage lines are stock DAGMan's, word for word (spelling included): tools and people
search for them.  TIMEOUT is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from condor_pydagman.dagfile import edge_lines as edge
from condor_pydagman.dagfile import modifier_lines as modifier
from condor_pydagman.dagfile import node_lines as node
from condor_pydagman.dagfile import retry_lines as retry
from condor_pydagman.dagfile import whole_dag_lines as whole
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_parts import Context


class Syntax(NamedTuple):
    """A command word of the language.

    Attributes:
        word: the command word as messages show it.
        usage: what stock DAGMan prints as its example.
        parse: reads the words after the command word; raises Wrong or QuotingError.
        defines: whether it is obeyed before all commands that are not, so that the definition of a
            node may follow its use.
        inline: whether its line may open an inline submit description.
        manager: whether it is obeyed by condor_submit_dag only.
        called: the command word in messages, if that is another one.
    """

    word: str
    usage: str
    parse: Callable[[Words, Context], Command]
    defines: bool = False
    inline: bool = False
    manager: bool = False
    called: str = ""


_OPTIONS = "[DIR <directory>] [NOOP] [DONE]"
_PARENT_USAGE = "[WEAK] PARENT p1 [p2 p3 ...] CHILD c1 [c2 c3 ...]"
_DESCRIPTION_USAGE = r"SUBMIT_DESCRIPTION <name> {\n<inline description>\n}"
_SCRIPT_USAGE = (
    "SCRIPT [DEFER <status> <time>] [DEBUG <file> (STDOUT|STDERR|ALL)] (PRE|POST|HOLD)"
    " <node> <script> <arguments ...>"
)
_VARS_USAGE = "VARS <node> [PREPEND|APPEND] key1=value1 [key2=value2 key3=value3 ...]"
_DOT_USAGE = "DOT <file> [UPDATE|DONT-UPDATE] [OVERWRITE|DONT-OVERWRITE] [INCLUDE <header file>]"
_TIMEOUT_USAGE = "TIMEOUT <node> [QUEUED <time>] [RUNNING <time>] [TOTAL <time>]"
_STATUS_USAGE = "NODE_STATUS_FILE <file> [<min update time>] [ALWAYS-UPDATE]"

_Parse = Callable[[Words, Context], Command]


def _node(word: str, parse: _Parse) -> Syntax:
    usage = f"{word} <name> <submit description> {_OPTIONS}"
    return Syntax(word, usage, parse, defines=True, inline=word != "DATA")


def _defines(usage: str, parse: _Parse) -> Syntax:
    return Syntax(usage.split()[0], usage, parse, defines=True)


def _later(usage: str, parse: _Parse) -> Syntax:
    return Syntax(usage.split()[0], usage, parse)


def _manager(usage: str, parse: _Parse) -> Syntax:
    return Syntax(usage.split()[0], usage, parse, manager=True)


_TABLE = (
    _node("JOB", node.read_job),
    _node("FINAL", node.read_final),
    _node("PROVISIONER", node.read_provisioner),
    _node("SERVICE", node.read_service),
    _node("DATA", node.read_data),
    _defines(f"SUBDAG EXTERNAL <name> <dag file> {_OPTIONS}", node.read_subdag),
    _defines("SPLICE <name> <dag file> [DIR <directory>]", node.read_splice),
    _defines(_DESCRIPTION_USAGE, node.read_submit_description)._replace(inline=True),
    _defines("REJECT", whole.read_reject),
    _defines(_DOT_USAGE, whole.read_dot),
    _defines(_STATUS_USAGE, whole.read_node_status_file),
    _defines("JOBSTATE_LOG <file>", whole.read_jobstate_log),
    _later("INCLUDE <dag file>", whole.read_include),
    Syntax("PARENT", _PARENT_USAGE, edge.read_parent),
    Syntax("WEAK", _PARENT_USAGE, edge.read_weak, called="PARENT"),
    _later("CONNECT <splice 1> <splice 2>", edge.read_connect),
    _later("PIN_IN <node> <pin number>", edge.read_pin_in),
    _later("PIN_OUT <node> <pin number>", edge.read_pin_out),
    _later(_SCRIPT_USAGE, modifier.read_script),
    _later("RETRY <node> <max retries> [UNLESS-EXIT <code>]", retry.read_retry),
    _later("ABORT_DAG_ON <node> <status> [RETURN <code>]", modifier.read_abort_dag_on),
    _later(_VARS_USAGE, modifier.read_vars),
    _later("PRIORITY <node> <value>", modifier.read_priority),
    _later("PRE_SKIP <node> <status>", modifier.read_pre_skip),
    _later("TOLERANCE <node> <value>[%] [FAIL-FAST|WAIT]", modifier.read_tolerance),
    _later(_TIMEOUT_USAGE, retry.read_timeout),
    _later("CATEGORY <node> <name>", modifier.read_category),
    _later("MAXJOBS <category> <value>", modifier.read_maxjobs),
    _later("DONE <node>", modifier.read_done),
    _later("SAVE_POINT_FILE <node> [<file>]", modifier.read_save_point_file),
    _manager("CONFIG <file>", whole.read_config),
    _manager("SET_JOB_ATTR <key> = <value>", whole.read_set_job_attr),
    _manager("ENV (SET|GET) <environment variables>", whole.read_env),
)

SYNTAX: dict[str, Syntax] = {syntax.word: syntax for syntax in _TABLE}
