"""Actions of the engine in the words of scenes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from condor_pydagman.engine import actions as do
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import ALL_PROCS
from tests.make import requested

# What is only told to people: a scene names of it what it is about.
AT_ONCE = "publish at once"
Function = TypeVar("Function", bound=Callable[..., Any])
TOLD = (do.Say, do.SayStatus, do.SayDeferrals, do.SayFailed, do.JobState)


class Words:
    """Says what the engine of a DAG does.

    Args:
        owner: the name of the node that a job is of; with ALL_PROCS, a whole cluster.
    """

    def __init__(self, dag: Dag, owner: Callable[[tuple[int, int]], str]) -> None:
        self.dag = dag
        self._names = dag.names
        self.owner = owner

    def of(self, action: do.Action) -> str:
        """One action, or request to a helper; '' if it is only told to people."""
        if isinstance(action, TOLD) or action == do.Publish():
            return ""
        asked = requested(action)
        in_words = _IN_WORDS.get(type(asked))
        return in_words(self, asked) if in_words else self._plain(asked)

    def name(self, node: int) -> str:
        """That of a node."""
        return self._names[node]

    def _plain(self, action: Any) -> str:
        """An action by the words of its class, and its node."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(action).__name__).lower()
        node = getattr(action, "node", None)
        return words if node is None else f"{words} {self._names[node]}"

    def _submit(self, action: do.SubmitNode) -> str:
        again = f" retry {action.retry}" if action.retry else ""
        hold = " on hold" if action.on_hold else ""
        files = f", common input {action.common_input}" if action.common_input else ""
        priority = f", priority {action.priority}" * bool(action.priority)
        values = "".join(f", {name}={value}" for name, value in action.variables)
        more = f" ({action.dag_status.name}, {action.failed_count} failed{priority}{values}{files})"
        return f"submit {self._names[action.node]}{again}{hold}{_at(action.site)}{more}"

    def _together(self, action: do.SubmitTogether) -> str:
        return f"submit together {' '.join(self._names[one.node] for one in action.nodes)}"

    def _remove(self, action: do.RemoveJobs) -> str:
        which = "all jobs" + " but services" * action.spare_services
        if action.cluster:
            proc = "" if action.proc == ALL_PROCS else f".{action.proc}"
            which = f"{self.owner((action.cluster, action.proc))}{proc}"
        return f"remove {which}{' by force' * action.force} ({action.reason})"

    def _hold(self, action: do.HoldJobs) -> str:
        proc = "" if action.proc == ALL_PROCS else f".{action.proc}"
        verb = "release" if action.release else "hold"
        return f"{verb} {self.owner((action.cluster, action.proc))}{proc} ({action.reason})"

    def _script(self, action: do.RunScript) -> str:
        held = f".{action.held.proc} hold {action.held.number}" if action.held else ""
        name = self._names[action.node]
        where = f"{held}{_at(action.site)}"
        return f"run {action.kind.value} of {name}{where} ({' '.join(action.words)})"

    def _record(self, action: do.AppendJournalRecord) -> str:
        owner = self._names[action.node] if action.node >= 0 else "the DAG"
        proc = f".{action.proc}" if action.proc >= 0 else ""
        more = ", ".join(filter(None, (f"value {action.value}", action.text)))
        return f"log {action.record} of {owner}{proc} ({more})"

    def _post_ended(self, action: do.AppendPostEnded) -> str:
        job = f"job {action.cluster}.{action.proc}.{action.subproc}"
        return f"log POST_ENDED of {self._names[action.node]} (value {action.status}, {job})"

    def _noop(self, action: do.AppendNoop) -> str:
        return f"log NOOP of {self._names[action.node]} ({action.subproc})"

    def _skip(self, action: do.AppendPreSkip) -> str:
        return f"log PRE_SKIP of {self._names[action.node]} ({action.subproc})"

    def _kill(self, action: do.KillScripts) -> str:
        return "kill scripts" + " for their ends" * action.answered

    def _query(self, action: do.QueryQueue) -> str:
        return "ask the schedd" + " and its history" * action.history

    def _publish(self, action: do.Publish) -> str:
        return f"publish {action.outcome}" if action.final else AT_ONCE

    def _exit(self, action: do.Exit) -> str:
        return f"exit {action.code}" + " and leave the lock" * action.keep_lock


def _at(site: str) -> str:
    return f" at {site}" if site else ""


_IN_WORDS: dict[type, Callable[[Words, Any], str]] = {
    do.SubmitNode: Words._submit,
    do.SubmitTogether: Words._together,
    do.RemoveJobs: Words._remove,
    do.HoldJobs: Words._hold,
    do.RunScript: Words._script,
    do.AppendJournalRecord: Words._record,
    do.AppendPostEnded: Words._post_ended,
    do.AppendNoop: Words._noop,
    do.AppendPreSkip: Words._skip,
    do.KillScripts: Words._kill,
    do.QueryQueue: Words._query,
    do.Publish: Words._publish,
    do.Exit: Words._exit,
}


def in_words(kind: type) -> Callable[[Function], Function]:
    """Have a function say what actions or requests of a kind are, with Words and one of them."""

    def known(function: Function) -> Function:
        _IN_WORDS[kind] = function
        return function

    return known


def same(expected: str, got: str) -> bool:
    """Whether words say the same; what stands in brackets at the end may be left out, or cut off
    by dots."""
    if expected.endswith("...)"):
        return got.startswith(expected[:-4])
    return expected == got or ("(" not in expected and got.startswith(f"{expected} ("))


def agree(expected: list[str], got: list[str]) -> bool:
    """Whether these are the actions that a scene wants; `...` stands for any.  That something is
    published at once is shown only where the scene wants it."""
    if AT_ONCE in got and AT_ONCE not in expected:
        return agree(expected, [one for one in got if one != AT_ONCE])
    if not expected:
        return not got
    if expected[0] == "...":
        return any(agree(expected[1:], got[count:]) for count in range(len(got) + 1))
    return bool(got) and same(expected[0], got[0]) and agree(expected[1:], got[1:])
