"""Finds out whether a node with a CACHE command is to run, by its facts and those of the store."""

from __future__ import annotations

import os.path
import re
import secrets
from collections.abc import Mapping
from functools import lru_cache

from condor_pydagman.adapters.files import working_directory
from condor_pydagman.adapters.followed_files import Followed
from condor_pydagman.adapters.foreign_texts import ask
from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.features.cache.adapters.compared import SHAPE
from condor_pydagman.features.cache.adapters.file_states import CachedFiles
from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.features.cache.facts import (
    INPUT,
    NAMES,
    PROGRAMS,
    TEXT,
    UNREAD,
    VALUE,
    WORDS,
    CachedNode,
    Facts,
    difference,
    digest,
    facts_of,
    facts_of_words,
)
from condor_pydagman.features.cache.store import Record
from condor_pydagman.features.common.file_macros import expanded, known_macros
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.description import SubmitDescription, template_of
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable
from condor_pydagman.records.job_description import literal, whole

MAX_WHY = 200  # characters
NEVER_DONE = "it has never been done"
NOT_WELL = "it did not end well when it last ran"
_READER = "condor_pydagman.features.cache.adapters.compared:values"
_template = lru_cache(64)(template_of)  # of many nodes it is the same one
_OF_DESCRIPTION = (TEXT, VALUE, PROGRAMS, UNREAD, WORDS, NAMES)  # facts, or what they begin with
_NAMES_FILES = re.compile(r"\b(?:include|from|matching)\b", re.IGNORECASE)


class Question(NamedTuple):
    """A node, what the results of its parents come to ('' if that is not known), why it runs if
    that is not known or has changed, and whether it runs anyway."""

    node: CachedNode
    parents: str
    why: str
    anew: bool = False


class Found(NamedTuple):
    """Whether nothing has changed; the name of the node's result, why that is so, and with what."""

    hit: bool
    result: str
    why: str
    facts: Facts


def cached_node(dag: Dag, node: int) -> CachedNode:
    """What the DAG says of the node, before any run: nothing in it depends on retries or jobs."""
    name, submit, command = dag.names[node], dag.submits[node], cached_of(dag)[node]
    variables = tuple((v.key, v.value, v.append) for v in dag.variables.get(node, ()))
    known = known_macros(name, ((key, value) for key, value, _ in variables))
    rules = dag.pre_skips.get(node), dag.tolerances.get(node)
    return CachedNode(
        name,
        dag.directories.get(node, ""),
        submit,
        dag.descriptions.get(submit),
        variables,
        tuple((kind.value, one.command) for kind, one in dag.scripts.get(node, {}).items()),
        tuple("" if rule is None else str(rule) for rule in rules),
        command.checksum,
        tuple(expanded(file, known) for file in command.inputs),
        tuple(expanded(file, known) for file in command.outputs),
        command.counts,
        command.ignores,
    )


def new_result() -> str:
    """A name that no other result has."""
    return secrets.token_hex(8)


def look_up(question: Question, record: Record | None, files: CachedFiles) -> Found:
    """Whether a node is to run, by what is known of its last run; touches nothing."""
    facts, problem = _facts(question, record, files)
    why = problem or _why(question, record, facts, files)
    if why or record is None:
        return Found(False, new_result(), printable(why)[:MAX_WHY], {} if problem else facts)
    how = f"its result was taken as it is by {record.taken}" if record.taken else ""
    return Found(True, record.result, printable(how)[:MAX_WHY], facts)


def _facts(question: Question, record: Record | None, files: CachedFiles) -> tuple[Facts, str]:
    """The node's facts, and why nothing can be equal to them, '' if it can."""
    node = question.node
    if not question.parents:
        return {}, question.why
    try:
        described = _described(node, record.facts if record else {}, files)
    except (OSError, FileError) as error:
        reason = getattr(error, "strerror", None) or error
        return {}, f"its submit description can't be read: {reason}"
    facts, problem = {**described, **facts_of(node, question.parents)}, ""
    programs = filter(None, described.get(PROGRAMS, "").split("\n"))
    facts["executable"] = ", ".join(_executable(node, name, files) for name in programs)
    for name in node.inputs:
        look = files.look(os.path.join(node.directory, name), checksum=node.checksum)
        facts[INPUT + name] = look.fact
        if look.problem and not problem:
            problem = f"its input {name} {look.problem}"
    return facts, problem


def _described(node: CachedNode, old: Facts, files: CachedFiles) -> Facts:
    """The facts of the node's submit description; `old`: those of its last run.

    Raises:
        OSError, FileError: it can't be read.
    """
    text, owner = files.text(os.path.join(node.directory, node.submit), node.description)
    unread = ""
    if _NAMES_FILES.search(text):
        early, late = (
            {key.lower(): value for key, value, is_late in node.variables if is_late == when}
            for when in (False, True)
        )
        with working_directory(node.directory):
            followed = Followed(text, owner, {"job": node.name, **early}, late)
            text, unread = followed.text, _of_unread(followed.unread, files)
    given = digest([node.name, node.variables, node.counts, node.ignores, text + unread])
    if old.get(TEXT) == given:
        return {name: old[name] for name in old if name.startswith(_OF_DESCRIPTION)}
    try:
        asked = _as_submitted(node, text), list(node.counts), list(node.ignores)
        programs, values, words = ask(_READER, owner, *asked, shape=SHAPE)
    except PydagmanError as error:
        read, variables = SubmitDescription(text), {k.lower(): v for k, v, _ in node.variables}
        program = read.getter({**variables, **read.values, "job": node.name})("executable")
        return {TEXT: given, UNREAD: printable(str(error))[:MAX_WHY], PROGRAMS: program or ""}
    facts = {VALUE + name: str(value) for name, value in values.items()}
    facts.update(facts_of_words(words, old.get(WORDS, "")))
    facts[NAMES] = digest([node.counts, node.ignores])
    return {TEXT: given, PROGRAMS: "\n".join(programs), **facts}


def _of_unread(unread: Mapping[str, str], files: CachedFiles) -> str:
    """Facts of the files of a description that are not read: links, others' files, large ones; not
    those of programs.

    Raises:
        FileError: nothing is known of them.
    """
    facts = []
    for why, name in unread.items():
        if "|" in name:
            continue
        if "$" in name:
            raise FileError(why)
        look = files.look(name, checksum=False)
        if look.problem:
            raise FileError(why)
        facts.append(f"# {look.fact}\n")
    return "".join(facts)


def _as_submitted(node: CachedNode, text: str) -> str:
    """A description with the node's name and VARS; raises PoolError."""
    before = f"JOB = {literal(node.name)}\nRETRY = 0\n"
    lines = [(f"{key} = {whole(value)}\n", is_late) for key, value, is_late in node.variables]
    behind = "".join(line for line, is_late in lines if is_late)
    parts = [part for body, queue in _template(text) for part in (body, behind, queue)]
    return "".join((before, *(line for line, is_late in lines if not is_late), *parts))


def _executable(node: CachedNode, name: str, files: CachedFiles) -> str:
    look = files.look(os.path.join(node.directory, name), checksum=node.checksum)
    return f"{name} {look.fact or look.problem}"  # it may be on the machines where jobs run


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
        return NOT_WELL
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
