"""Finds out whether a node with a CACHE command is to run, by its facts and those of the store."""

from __future__ import annotations

import os.path
import secrets

from condor_pydagman.errors import FileError
from condor_pydagman.features.cache.adapters.file_states import CachedFiles, executable_of
from condor_pydagman.features.cache.facts import INPUT, CachedNode, Facts, difference, facts_of
from condor_pydagman.features.cache.store import Record
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

MAX_WHY = 200  # characters
NEVER_DONE = "it has never been done"


class Question(NamedTuple):
    """A node, what the results of its parents come to ('' if that is not known), why it runs if
    that is not known or has changed, and whether it runs anyway."""

    node: CachedNode
    parents: str
    why: str
    anew: bool = False


class Found(NamedTuple):
    """Whether nothing has changed; the name of the node's result, why it runs, and with what."""

    hit: bool
    result: str
    why: str
    facts: Facts


def new_result() -> str:
    """A name that no other result has."""
    return secrets.token_hex(8)


def look_up(question: Question, record: Record | None, files: CachedFiles) -> Found:
    """Whether a node is to run, by what is known of its last run; touches nothing."""
    facts, problem = _facts(question, files)
    why = problem or _why(question, record, facts, files)
    if why or record is None:
        return Found(False, new_result(), printable(why)[:MAX_WHY], {} if problem else facts)
    return Found(True, record.result, "", facts)


def _facts(question: Question, files: CachedFiles) -> tuple[Facts, str]:
    """The node's facts, and why nothing can be equal to them, '' if it can."""
    node = question.node
    if not question.parents:
        return {}, question.why
    text = node.description
    if text is None:
        try:
            text = files.text(os.path.join(node.directory, node.submit))
        except (OSError, FileError) as error:
            reason = getattr(error, "strerror", None) or error
            return {}, f"its submit description can't be read: {reason}"
    facts, problem = facts_of(node, text, question.parents), ""
    executable = executable_of(node, text)
    if executable:
        look = files.look(os.path.join(node.directory, executable), checksum=node.checksum)
        # One that is not there may be on the machines where jobs run.
        facts["executable"] = f"{executable} {look.fact or look.problem}"
    for name in node.inputs:
        look = files.look(os.path.join(node.directory, name), checksum=node.checksum)
        facts[INPUT + name] = look.fact
        if look.problem and not problem:
            problem = f"its input {name} {look.problem}"
    return facts, problem


def _why(question: Question, record: Record | None, facts: Facts, files: CachedFiles) -> str:
    """Why the node is to run, '' if it is not."""
    if record is None:
        return NEVER_DONE
    if question.anew:
        return "it is to run anew"
    if not record.facts:
        return "it is not known with what it was last done"
    why = difference(record.facts, facts, question.why)
    if why:
        return why
    if record.outputs is None:
        return "it did not end well when it last ran"
    return _changed_output(question.node, record.outputs, files)


def _changed_output(node: CachedNode, kept: Facts, files: CachedFiles) -> str:
    if set(kept) != set(node.outputs):
        return "other OUTPUTS are named"
    for name in node.outputs:
        look = files.look(os.path.join(node.directory, name), checksum=node.checksum)
        if look.problem:
            return f"its output {name} {look.problem}"
        if look.fact != kept[name]:
            return f"its output {name} has changed"
    return ""


def outputs_of(node: CachedNode, files: CachedFiles) -> tuple[Facts, str]:
    """Facts of the outputs of a node that has ended well, and what is wrong with one, or ''."""
    facts: Facts = {}
    for name in node.outputs:
        look = files.look(os.path.join(node.directory, name), checksum=node.checksum)
        if look.problem:
            return {}, printable(f"its output {name} {look.problem}")[:MAX_WHY]
        facts[name] = look.fact
    return facts, ""
