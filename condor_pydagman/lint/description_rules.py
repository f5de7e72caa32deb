"""Findings about submit descriptions: values that submission would refuse, macros and VARS, files
that jobs write, lines that nothing uses.

Descriptions that do more than set and use plain macros are not checked.  Of files it is only told
what nothing can write before it is needed: what the nodes before a node, or its PRE script, make is
theirs.  What is known of a job before (JOB, VARS, items of its queue statement) is filled in; of
values with macros that only the job has, nothing is said.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice

from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.errors import FileError
from condor_pydagman.features.common.first_nodes import FirstNodes
from condor_pydagman.graph.model import DONE, JOIN, NOOP, Dag, Variable
from condor_pydagman.language.description import (
    HTCONDORS,
    SPECIAL,
    SubmitDescription,
    mentioned,
    why_lost,
)
from condor_pydagman.language.hints import nearest
from condor_pydagman.language.submit_warnings import unused_lines
from condor_pydagman.lint import value_rules
from condor_pydagman.lint.findings import FileKind, Findings, Severity, World, content
from condor_pydagman.lint.odd_characters import CODE as ODD
from condor_pydagman.lint.odd_characters import odd
from condor_pydagman.lint.queued_jobs import jobs_of
from condor_pydagman.lint.value_rules import KEYWORDS, Get, first_of, nearest_resource
from condor_pydagman.vocabulary import NodeKind

VALUE, FILE, NEEDED, UNCHECKED, NO_X = "DAG310", "DAG311", "DAG312", "DAG317", "DAG318"
MAYBE, ODD_NUMBER = "DAG320", "DAG321"
_INPUTS = ("transfer_input_files", "transferinputfiles")
_SENT = tuple(f"{mark}shouldtransferfiles" for mark in ("", "+", "my."))
_SENT_PROGRAM = tuple(f"{mark}transferexecutable" for mark in ("", "+", "my."))
_PROGRAM = ("executable", "cmd")
_STANDARD = (("input", "in", "stdin"), ("output", "out", "stdout"), ("error", "err", "stderr"))
_FALSE = ("false", "f", "no", "n", "0", "never")
_TRUE = ("true", "t", "yes", "y", "1", "always")
_AS_IT_IS = ("local", "scheduler", "7", "12")  # universes that transfer no executable
_NO_FILES = ("vm", "docker", "container", "grid", "13", "10", "9")  # universes
_TYPED = ("executable", "arguments", "args", "environment", "env", "transfer_input_files")
_OTHER_FILES = (
    "output_destination",
    "output_directory",
    "remote_initialdir",
    "transfer_output_remaps",
)
_OF_FILES = frozenset(
    (
        *("universe", "transfer_executable", "should_transfer_files", "shell", value_rules.PROXY),
        *(*value_rules.DIRECTORIES, *value_rules.IMAGES, *_INPUTS, *_OTHER_FILES, *_PROGRAM),
        *(*_SENT, *_SENT_PROGRAM),
        *(name for names in _STANDARD for name in names),
    )
)
_ZERO = re.compile(r"0+(?=\s*$|\s+[A-Za-z])")
_WORD = re.compile(r"(?!undefined$)[a-z][a-z_]*")  # HTCondor's own attributes have capitals
_NAMES = ("job", "retry")  # macros that each node has, and `getter` is told of
MAX_KINDS = 1000  # of mistakes
MAX_EXPRESSIONS = 10_000  # that are looked at
MAX_JOBS = 10_000  # of which files are looked for one by one, if each has up to MAX_INPUTS
MAX_INPUTS = 100
# In place of what only the job will know: no name of a file has it.
LATER = "\0"
_OF_THE_JOB = dict.fromkeys(
    ("cluster", "clusterid", "process", "procid", "submit_time", "year", "month", "day"), LATER
)


def getter(
    variables: Sequence[Variable], text: SubmitDescription, known: Mapping[str, str] | None = None
) -> Get:
    """The values of a description with a node's VARS, as far as they can be told.

    Args:
        known: the values of macros that a job has, which are not looked at if there are none.
    """
    values = {one.key.lower(): one.value for one in variables if not one.append}
    values.update(text.values)
    values.update((one.key.lower(), one.value) for one in variables if one.append)
    for name in text.variables:
        values.pop(name, None)
    values.update(known or {})
    return text.getter(values)


def _is_of_value(key: str) -> bool:
    return key in value_rules.KEYS or value_rules.attribute_of(key) != ""


class DescriptionRules:
    """Looks at one node after the other.

    Args:
        with_files: whether files that are not there are told of.
    """

    def __init__(
        self, dag: Dag, world: World, findings: Findings, *, with_files: bool = True
    ) -> None:
        self._with_files = with_files
        self._dag = dag
        self._world = world
        self._findings = findings
        self._firsts = FirstNodes(dag)
        self._seen: dict[tuple[str, str], int] = {}  # code and message: the first node
        self._expressions: dict[str, dict[str, int]] = {}  # by value: by key the first node
        self._with_macros: dict[tuple[SubmitDescription, str], bool] = {}
        self._looked_at: set[tuple[SubmitDescription, str]] = set()
        self._items: dict[tuple[SubmitDescription, str], list[dict[str, str]]] = {}
        self._jobs_left = MAX_JOBS

    def look_at(self, node: int, text: SubmitDescription, variables: Sequence[Variable]) -> None:
        """A node, its description, which is the same object for all nodes that name it, and its
        VARS, which take time to read."""
        dag = self._dag
        if dag.flags[node] & DONE:
            return
        if self._is_new("values", _is_of_value, variables, text):
            self._values(node, text, getter(variables, text))
        if self._with_files and self._firsts.job_is_first(node):
            where = dag.directories.get(node, "")
            if self._is_new(f"files {where}", _OF_FILES.__contains__, variables, text):
                for known in self._jobs(node, text):
                    self._files(node, text, getter(variables, text, known))

    def _jobs(self, node: int, text: SubmitDescription) -> Iterator[dict[str, str]]:
        """Macros of the jobs of a node; of one job if items are unknown or not used."""
        where = self._dag.directories.get(node, "")
        of_node = {**_OF_THE_JOB, "job": self._dag.names[node], "retry": "0"}
        if (text, where) not in self._items:
            self._items[text, where] = self._known_items(where, text)
        for place, items in enumerate(self._items[text, where]):
            self._jobs_left -= 1
            if place and self._jobs_left < 0:
                return
            yield {**of_node, **items}

    def _known_items(self, where: str, text: SubmitDescription) -> list[dict[str, str]]:
        """What the queue statement sets, if anything uses it."""
        used = not text.mentioned.isdisjoint((*text.variables, "process", "procid"))
        if not used and _OF_FILES.isdisjoint(text.variables):
            return [{}]
        with suppress(OSError, FileError, ValueError):  # DAG312 and DAG317 tell of it
            jobs = jobs_of(
                text.queue, lambda name: self._world.read_text(os.path.join(where, name))
            )
            return list(islice(jobs, MAX_JOBS))
        return [{}]

    def _is_new(
        self,
        what: str,
        concerns: Callable[[str], bool],
        variables: Sequence[Variable],
        text: SubmitDescription,
    ) -> bool:
        """Whether no node before had the same of this description, as far as it is looked at."""
        key = text, what
        if key not in self._with_macros:
            self._with_macros[key] = any(
                "$" in value and concerns(name) for name, value in text.values.items()
            )
        named = what != "values" and not text.mentioned.isdisjoint(_NAMES)
        if self._with_macros[key] and (variables or (named and self._jobs_left > 0)):
            return True
        if any(concerns(one.key.lower()) for one in variables):
            return True
        if key in self._looked_at:
            return False
        self._looked_at.add(key)
        return True

    def _values(self, node: int, text: SubmitDescription, get: Get) -> None:
        for _, problem in value_rules.value_problems(get):
            self._note(node, VALUE, problem.partition("\n")[0])
        self._keep_expressions(node, text, get)
        program = first_of(get, _PROGRAM) or ""
        if program.startswith('"'):
            self._note(node, FILE, f"executable {program}: the quotes are part of its name")
        arguments = text.queue.arguments
        if _ZERO.match(arguments):
            self._note(node, ODD_NUMBER, f"queue {arguments} makes one job, or one for each item")
        for key in filter(value_rules.resource_of, text.values):
            value = get(key) or ""
            if _WORD.fullmatch(value) and get(f"+{value}") == get(f"my.{value}") == "":
                self._note(node, ODD_NUMBER, f"{key} = {value}, but no line sets My.{value}")
        for key in _TYPED:
            what = odd(text.values.get(key, ""))
            if what:
                self._note(node, ODD, f"{key} has {what}")

    def report(self) -> None:
        """Tell what was found, each once, with the first node."""
        problems = self._world.expression_problems(list(self._expressions))
        for (value, uses), problem in zip(self._expressions.items(), problems):
            for key, node in uses.items() if problem else ():
                self._note(node, VALUE, f"parse error in expression {key} = {value}")
        for (code, what), node in self._seen.items():
            message = f"{_source(self._dag, node)}: {what}"
            self._findings.of_node(code, self._dag, node, message)

    def _note(self, node: int, code: str, what: str) -> None:
        if len(self._seen) < MAX_KINDS:
            self._seen.setdefault((code, what), node)

    def _keep_expressions(self, node: int, text: SubmitDescription, get: Get) -> None:
        for key in filter(value_rules.attribute_of, text.values):
            value = get(key)
            if not value or not value_rules.attribute_of(key, value):
                continue
            if value in self._expressions or len(self._expressions) < MAX_EXPRESSIONS:
                self._expressions.setdefault(value, {}).setdefault(key, node)

    def _files(self, node: int, text: SubmitDescription, get: Get) -> None:
        inside = self._dag.directories.get(node, "")

        def known(key: str) -> str | None:
            value = get(key)
            return None if value and LATER in value else value

        initial = first_of(known, value_rules.DIRECTORIES)
        if initial is None:
            return
        home = os.path.join(inside, initial) if initial else inside
        if initial and not self._world.is_directory(home):
            self._note(node, NEEDED, f"initialdir {initial} is not a directory{_within(inside)}")
            return  # all that is in it is missing as well
        proxy = known(value_rules.PROXY)
        if proxy:
            self._look_for(node, NEEDED, f"x509userproxy {proxy}", home, proxy)
        items = text.queue.items
        file = items.file if items else ""
        if file and "$" not in file:
            what = f"the list {file} of its queue statement"
            self._look_for(node, NEEDED, what, inside, file)
        self._program(node, known, inside)
        self._inputs(node, known, home)
        self._outputs(node, get, home)

    def _program(self, node: int, get: Get, inside: str) -> None:
        universe = get("universe")
        if universe is None or first_of(get, ("shell", *value_rules.IMAGES)) != "":
            return
        program, transfers = first_of(get, _PROGRAM), _transfers(get)
        universe = universe.strip().lower()
        if not program or "://" in program or program[0] == '"' or universe in _NO_FILES:
            return
        is_sent = _word(get, ("transfer_executable", *_SENT_PROGRAM)) not in _FALSE
        is_sent &= transfers not in _FALSE
        if is_sent:
            self._look_for(node, FILE, f"executable {program}", inside, program)
        gets_bit = is_sent and transfers in _TRUE and universe not in _AS_IT_IS
        if not gets_bit and self._kind(inside, program) is FileKind.FILE:
            self._note(node, NO_X, f"executable {program}{_within(inside)} has no x bit")

    def _inputs(self, node: int, get: Get, home: str) -> None:
        transfers = _transfers(get)
        if transfers in _FALSE:
            return
        named = [("input", first_of(get, _STANDARD[0]) or "")]
        files = (first_of(get, _INPUTS) or "").strip('"')
        named += [("transfer_input_files", one.strip()) for one in files.split(",")]
        code = FILE if transfers in _TRUE else MAYBE
        self._jobs_left -= len(named) // MAX_INPUTS
        for key, file in named:
            if file and not any(sign in file for sign in ("://", "$", "*")):
                self._look_for(node, code, f"{key} {file}", home, file.rstrip("/") or "/")

    def _outputs(self, node: int, get: Get, home: str) -> None:
        """HTCondor makes the directories of files that come back from the machine of the job."""
        transfers = _transfers(get)
        if transfers in _TRUE or any(get(key) != "" for key in _OTHER_FILES):
            return
        code = FILE if transfers in _FALSE else MAYBE
        for names in _STANDARD[1:]:
            directory = os.path.dirname(first_of(get, names) or "")
            if not directory or "://" in directory or LATER in directory or "$" in directory:
                continue
            if transfers in _FALSE and os.path.isabs(directory):
                continue  # it may be one of the machine that runs the job
            if not self._world.is_directory(os.path.join(home, directory)):
                what = f"the directory {directory} of its {names[0]} file does not exist"
                self._note(node, code, what + _within(home))

    def _look_for(self, node: int, code: str, what: str, home: str, file: str) -> None:
        if self._kind(home, file) is FileKind.MISSING:
            self._note(node, code, f"{what} does not exist{_within(home)}")

    def _kind(self, home: str, file: str) -> FileKind:
        return self._world.kind(os.path.join(home, file))


def _transfers(get: Get) -> str:
    return _word(get, ("should_transfer_files", *_SENT))


def _word(get: Get, names: tuple[str, ...]) -> str:
    """The value of a command that is one word; LATER if it is not known."""
    value = first_of(get, names)
    return LATER if value is None else value.strip().strip('"').lower()


def _source(dag: Dag, node: int) -> str:
    submit = dag.submits[node]
    what = "the description" if submit in dag.descriptions else submit
    return f"{what} of node {dag.names[node]}"


def _within(directory: str) -> str:
    return f" in {directory}" if directory else ""


CODE = "DAG422"
MAX_VALUE_LENGTH = 60
MAX_NEIGHBOURS = 20  # lines for which the command that was meant is looked for


class UnusedLineRules:
    """Looks at one node after the other; a line counts as used if any node uses it."""

    def __init__(self, dag: Dag, findings: Findings) -> None:
        self._dag = dag
        self._findings = findings
        self._firsts: dict[SubmitDescription, int] = {}  # the first node of each
        self._named: dict[SubmitDescription, set[str]] = {}  # macros that VARS of nodes name
        self._of_any_universe: set[SubmitDescription] = set()  # VARS choose it
        self._compared = 0

    def look_at(self, node: int, text: SubmitDescription, variables: Sequence[Variable]) -> None:
        """See `DescriptionRules`."""
        if not text.is_plain:
            return
        self._firsts.setdefault(text, node)
        for one in variables:
            if "$" in one.value:
                self._named.setdefault(text, set()).update(mentioned(one.value))
            if one.key.lower() == "universe":
                self._of_any_universe.add(text)
        for data in self._dag.features.values():
            self._named.setdefault(text, set()).update(data.lines_used(node))

    def report(self) -> None:
        """Tell of each line once, with the first node of its description."""
        for text, node in self._firsts.items():
            values = dict(text.values)
            values["my.vars"] = "".join(f"$({name})" for name in self._named.get(text, ()))
            if text in self._of_any_universe:
                values["universe"] = "$(universe)"
            for one in unused_lines(values, text.queue.arguments):
                if one.value is not None and one.name in text.values:
                    self._add(node, one.name, one.value)
            for key, value in text.values.items():
                meant = nearest_resource(key)
                if meant and key not in text.mentioned:
                    self._add(node, key, value, meant)

    def _add(self, node: int, key: str, value: str, meant: str = "") -> None:
        message = f"{_source(self._dag, node)}: nothing uses the line {key} ="
        message += f" {value[:MAX_VALUE_LENGTH]}"
        if not meant and self._compared < MAX_NEIGHBOURS:
            self._compared += 1
            meant = nearest(key, KEYWORDS).lower()
        hint = f"did you mean {meant}?" if meant and meant != key else ""
        self._findings.of_node(CODE, self._dag, node, message, hint=hint)


_ELSEWHERE = ("append_files", "output_destination", "transfer_output_remaps")
_NOWHERE = frozenset(("", "/dev/null", "NUL", "nul"))
_WITH_JOBS = (NodeKind.JOB, NodeKind.FINAL, NodeKind.PROVISIONER, NodeKind.SERVICE)


def check_unset_macros(dag: Dag, world: World, findings: Findings, perhaps: set[str]) -> None:
    """Look for macros of descriptions that nothing sets, in what is understood of a DAG; lines that
    are not may set those of these names, in lower case."""
    texts = _Texts(dag, world, findings, None)
    rules = _Variables(dag, world, findings, texts, perhaps)
    for node, text in texts.nodes():
        rules.note_unset(node, text, dag.variables.get(node, ()))
    rules.report_unset()


def check_macros(dag: Dag, world: World, findings: Findings, *, grown: bool = False) -> None:
    """Compare VARS with submit descriptions, and the files that jobs write with each other; look at
    the values of descriptions.

    `grown`: it is what is added to a DAG, so that any file may have been written before.
    """
    texts = _Texts(dag, world, findings, None if grown else FirstNodes(dag))
    rules = (
        _Variables(dag, world, findings, texts),
        _Outputs(dag, findings, texts),
        DescriptionRules(dag, world, findings, with_files=not grown),
        UnusedLineRules(dag, findings),
    )
    for node, text in texts.nodes():
        variables = dag.variables.get(node, ())
        for one in rules:
            one.look_at(node, text, variables)
    for one in rules:
        one.report()
    _unused_descriptions(dag, findings)


class _Texts:
    """The submit descriptions of nodes; each file is read once.

    `firsts`: tells for which nodes nothing can write a file before; None if something always can.
    """

    def __init__(
        self, dag: Dag, world: World, findings: Findings, firsts: FirstNodes | None
    ) -> None:
        self._firsts = firsts
        self._dag = dag
        self._world = world
        self._findings = findings
        self._texts: dict[tuple[str, str], SubmitDescription | None] = {}

    def of(self, node: int) -> SubmitDescription | None:
        """The description of a node that has a job; None if it tells nothing for sure."""
        dag, submit = self._dag, self._dag.submits[node]
        if dag.flags[node] & (NOOP | JOIN) or dag.kinds[node] not in _WITH_JOBS:
            return None
        key = ("", submit)
        if submit not in dag.descriptions:
            key = (dag.directories.get(node, ""), submit)
        if key not in self._texts:
            self._texts[key] = self._read(node, *key)
        return self._texts[key]

    def nodes(self) -> Iterator[tuple[int, SubmitDescription]]:
        """Nodes that have a description, and this."""
        for node in range(len(self._dag)):
            text = self.of(node)
            if text is not None:
                yield node, text

    def _read(self, node: int, directory: str, submit: str) -> SubmitDescription | None:
        try:
            text = content(self._dag, self._world, directory, submit)
        except (OSError, FileError) as error:
            reason = getattr(error, "strerror", None) or error
            self._note(UNCHECKED, node, submit, f" is not checked: {reason}")
            return None
        if text is None or is_request(self._dag.kinds[node], text):
            return None
        read = SubmitDescription(text)
        path = "" if submit in self._dag.descriptions else os.path.join(directory, submit)
        reason = "" if read.is_plain else self._world.unreadable(text, directory, path)
        if read.queue.listed is None:
            reason = reason or f"no line with ) ends the list of queue {read.queue.arguments}"
        reason = reason or value_rules.count_problem(read.queue)
        first = self._firsts is not None and self._firsts.job_is_first(node)
        if reason:
            severity = Severity.ERROR if first else None
            self._note("DAG307", node, submit, f" can't be read: {reason}", severity)
        if read.is_plain and read.queue.items is None:
            return read
        unread, missing = self._world.unfollowed(text, directory, path)
        if unread:
            self._note(UNCHECKED, node, submit, f" is not checked in full: {unread}")
        if missing and first:
            self._note(NEEDED, node, submit, f": {missing}, which it includes, does not exist")
        return read if read.is_plain else None

    def mentioned_by_data_nodes(self) -> set[str]:
        """Lower-case macros in the files that DATA nodes, and FINAL nodes, name."""
        dag, kinds = self._dag, (NodeKind.DATA, NodeKind.FINAL)
        files = {
            (dag.directories.get(node, ""), dag.submits[node])
            for node, kind in enumerate(dag.kinds)
            if kind in kinds
        }
        found: set[str] = set()
        for file in sorted(files):
            with suppress(OSError, FileError):  # running the node will show why
                found |= mentioned(content(dag, self._world, *file) or "")
        return found

    def _note(
        self, code: str, node: int, submit: str, said: str, severity: Severity | None = None
    ) -> None:
        dag = self._dag
        if not dag.flags[node] & DONE:
            what = "submit file " * (submit not in dag.descriptions) + _source(dag, node)
            self._findings.of_node(code, dag, node, f"{what}{said}", severity=severity)


class _Variables:
    """Macros that VARS sets and that are not used, and macros that are used and not set.

    `perhaps`: macros that something may set, in lower case.
    """

    def __init__(
        self,
        dag: Dag,
        world: World,
        findings: Findings,
        texts: _Texts,
        perhaps: Container[str] = (),
    ) -> None:
        self._dag = dag
        self._world = world
        self._findings = findings
        self._texts = texts
        self._used: set[str] = set()
        self._unused: dict[str, tuple[int, str, int]] = {}  # by key: node, as written, how many
        self._seen: dict[tuple[SubmitDescription, tuple[str, ...]], tuple[str, ...]] = {}
        self._unset: dict[tuple[SubmitDescription, str], tuple[int, int]] = {}
        self._perhaps = perhaps
        self._to_set: dict[SubmitDescription, list[str]] = {}  # macros that only VARS may set

    def look_at(self, node: int, text: SubmitDescription, variables: Sequence[Variable]) -> None:
        """See `DescriptionRules`."""
        keys = tuple(variable.key for variable in variables)
        unused = self._unused_keys(node, text, keys, variables)
        written = {key.lower(): key for key in reversed(keys)} if unused else {}
        for key in unused:
            first, name, count = self._unused.get(key, (node, written[key], 0))
            self._unused[key] = (first, name, count + 1)
        self.note_unset(node, text, variables)

    def report(self) -> None:
        """Tell what was found, each macro once, with the first node."""
        self._report_unused()
        self.report_unset()

    def _unused_keys(
        self,
        node: int,
        text: SubmitDescription,
        keys: tuple[str, ...],
        variables: Sequence[Variable],
    ) -> tuple[str, ...]:
        """Lower-case keys that the description does not use, nor another value of the node, nor the
        names of its files."""
        if not keys:
            return ()
        unused = self._seen.get((text, keys))
        if unused is None:
            lost = HTCONDORS if text.queue.items is None else HTCONDORS - {"item"}
            known = (text.mentioned | text.variables) - lost
            lower = dict.fromkeys(key.lower() for key in keys)
            silent = {key for key in lower if _is_command(key)} - lost
            unused = tuple(key for key in lower if key not in known | silent)
            self._seen[text, keys] = unused
            self._used.update(key for key in lower if key in known)
        if unused:
            texts = [variable.value for variable in variables]
            for data in self._dag.features.values():
                texts += data.file_names(node)
            elsewhere = {name for text in texts for name in mentioned(text)}
            for data in self._dag.features.values():
                elsewhere.update(data.lines_used(node))
            if elsewhere:
                self._used |= elsewhere
                unused = tuple(key for key in unused if key not in elsewhere)
        return unused

    def note_unset(self, node: int, text: SubmitDescription, variables: Sequence[Variable]) -> None:
        """Look at the macros of a node's description."""
        if text not in self._to_set:
            known = (self._perhaps, text.values, text.variables, SPECIAL, KEYWORDS)
            self._to_set[text] = [
                name for name in text.needed if not any(name.lower() in names for names in known)
            ]
        if not self._to_set[text] or self._dag.flags[node] & DONE:
            return
        lower = {one.key.lower() for one in variables}
        for name in self._to_set[text]:
            low = name.lower()
            if low in lower:
                continue
            if low.startswith("match_") and self._dag.group_of(node) is not None:
                continue  # the match of its group to a site sets it
            first, count = self._unset.get((text, name), (node, 0))
            self._unset[text, name] = (first, count + 1)

    def _report_unused(self) -> None:
        """A key that some description uses is often set for all nodes: nothing is said of that."""
        dag = self._dag
        if self._unused.keys() - self._used:
            self._used |= self._texts.mentioned_by_data_nodes()
        for key, (node, written, count) in self._unused.items():
            if key not in self._used:
                name = dag.names[node]
                message = f"$({written}) is set for node {name}{_others(count)}, but"
                message += f" {why_lost(written) or f'{dag.submits[node]} does not use it'}"
                self._findings.of_node("DAG401", dag, node, message, "VARS", name, written)

    def report_unset(self) -> None:
        """Tell of the macros that nothing sets."""
        dag = self._dag
        for (_, macro), (node, count) in self._unset.items():
            if not self._world.is_knob(macro):
                name = dag.names[node]
                message = f"{dag.submits[node]} uses $({macro}), which nothing sets for node {name}"
                message += _others(count)
                self._findings.of_node("DAG402", dag, node, message)


def _is_command(key: str) -> bool:
    """Whether a VARS key sets a submit command or a job attribute, so that its name is its use."""
    resource = value_rules.resource_of(key) and not nearest_resource(key)
    return key in KEYWORDS or key in SPECIAL or "." in key or key[0] == "+" or bool(resource)


def _others(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""


class _Outputs:
    """Nodes whose jobs write the same output or error file."""

    def __init__(self, dag: Dag, findings: Findings, texts: _Texts) -> None:
        self._dag = dag
        self._findings = findings
        self._texts = texts
        self._writers: dict[int, int] = {}  # hash of a path: first node that writes it
        self._shared: dict[str, list[int]] = {}  # path: its first writer, how many
        self._fixed: dict[tuple[SubmitDescription, str], tuple[str, ...]] = {}

    def look_at(self, node: int, text: SubmitDescription, variables: Sequence[Variable]) -> None:
        """See `DescriptionRules`."""
        if not self._dag.flags[node] & DONE:
            for path in self._paths(node, text, variables):
                self._note(node, path)

    def report(self) -> None:
        """Tell of each file once, with the first node."""
        for path, (node, count) in self._shared.items():
            message = f"{count} nodes overwrite {path}; the first is {self._dag.names[node]}"
            self._findings.of_node("DAG305", self._dag, node, message)

    def _note(self, node: int, path: str) -> None:
        first = self._writers.setdefault(hash(path), node)
        if first == node:
            return
        shared = self._shared.get(path)
        if shared is not None:
            shared[1] += 1
            return
        text = self._texts.of(first)
        variables = self._dag.variables.get(first, ())
        if text is not None and path in self._paths(first, text, variables):  # no equal hash merely
            self._shared[path] = [first, 2]

    def _paths(
        self, node: int, text: SubmitDescription, variables: Sequence[Variable]
    ) -> tuple[str, ...]:
        """Files that the node's job writes, as far as that can be told."""
        directory = self._dag.directories.get(node, "")
        if variables:
            return _written(text, directory, variables)
        fixed = self._fixed.get((text, directory))
        if fixed is None:
            fixed = self._fixed[text, directory] = _written(text, directory, ())
        return fixed


def _written(
    text: SubmitDescription, directory: str, variables: Sequence[Variable]
) -> tuple[str, ...]:
    get = getter(variables, text)
    base = first_of(get, value_rules.DIRECTORIES)
    if base is None or any(get(key) != "" for key in _ELSEWHERE):
        return ()
    files = dict.fromkeys(first_of(get, names) for names in _STANDARD[1:])
    return tuple(
        os.path.normpath(os.path.join(directory, base, file))
        for file in files
        if file and file not in _NOWHERE
    )


def _unused_descriptions(dag: Dag, findings: Findings) -> None:
    added = [data.submits_to_come() for data in dag.all_features()]
    if None in added:
        return  # what is added may name them
    used = {*dag.submits, *chain.from_iterable(filter(None, added))}
    for name in dag.descriptions:
        if name not in used:
            message = f"no node uses the SUBMIT-DESCRIPTION {name}"
            findings.add("DAG407", message, words=("SUBMIT_DESCRIPTION", name))
