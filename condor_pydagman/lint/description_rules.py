"""Findings about the values of submit descriptions: what submission would refuse, and what is not
there.

Of files it is only told what nothing can write before it is needed: what the nodes before a node,
or its PRE script, make is theirs.  Of values with macros that only the job has, nothing is said.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator, Sequence

from condor_pydagman.graph.model import DONE, Dag, Variable
from condor_pydagman.language.submit_file import SPECIAL, SubmitText, expand
from condor_pydagman.lint import value_rules
from condor_pydagman.lint.findings import FileKind, Findings, World
from condor_pydagman.lint.first_nodes import FirstNodes
from condor_pydagman.lint.odd_characters import CODE as ODD
from condor_pydagman.lint.odd_characters import odd
from condor_pydagman.lint.value_rules import Get, first_of

VALUE, FILE, NEEDED = "DAG310", "DAG311", "DAG312"
_INPUTS = ("transfer_input_files", "transferinputfiles", "transfer_input", "transferin")
_PROGRAM = ("executable", "cmd")
_STANDARD = (("input", "in", "stdin"), ("output", "out", "stdout"), ("error", "err", "stderr"))
_FALSE = ("false", "f", "no", "n", "0", "never")
_NO_FILES = ("vm", "docker", "container", "grid", "13", "10", "9")  # universes
_TYPED = ("executable", "arguments", "args", "environment", "env", "transfer_input_files")
_ELSEWHERE = (
    "output_destination",
    "output_directory",
    "remote_initialdir",
    "transfer_output_remaps",
)
_OF_FILES = frozenset(
    (
        *("universe", "transfer_executable", "should_transfer_files", "shell", value_rules.PROXY),
        *(*value_rules.DIRECTORIES, *_INPUTS, *_ELSEWHERE, *_PROGRAM, "log", "userlog"),
        *(name for names in _STANDARD for name in names),
    )
)
_FROM = re.compile(r".*?\bfrom\s+(?:\[[-\d:\s]*\]\s*)?([^\s|(]+)\s*", re.IGNORECASE | re.DOTALL)


MAX_KINDS = 1000  # of mistakes


def getter(variables: Sequence[Variable], text: SubmitText) -> Get:
    """The values of a description with a node's VARS, as far as they can be told."""
    values = {one.key.lower(): one.value for one in variables if not one.append}
    values.update(text.values)
    values.update((one.key.lower(), one.value) for one in variables if one.append)
    for name in text.loops:
        values.pop(name, None)

    def look_up(name: str) -> str | None:
        return None if name in SPECIAL else values.get(name)

    def get(key: str) -> str | None:
        value = values.get(key)
        if value:
            return expand(value, look_up)
        return None if key in text.loops else ""

    return get


def _is_of_value(key: str) -> bool:
    return key in value_rules.KEYS or value_rules.attribute_of(key) != ""


def _is_of_files(key: str) -> bool:
    return key in _OF_FILES


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
        self._expressions: dict[str, str] = {}
        self._with_macros: dict[tuple[int, str], bool] = {}  # by number of the description
        self._looked_at: set[tuple[int, str]] = set()

    def look_at(self, node: int, number: int, text: SubmitText) -> None:
        """A node and its description, which has that number."""
        dag = self._dag
        if dag.flags[node] & DONE:
            return
        variables = dag.variables.get(node, ())
        if self._is_new("values", _is_of_value, variables, number, text):
            self._values(node, text, getter(variables, text))
        if self._with_files and self._firsts.job_is_first(node):
            where = dag.directories.get(node, "")
            if self._is_new(f"files {where}", _is_of_files, variables, number, text):
                self._files(node, text, getter(variables, text))

    def _is_new(
        self,
        what: str,
        concerns: Callable[[str], bool],
        variables: Sequence[Variable],
        number: int,
        text: SubmitText,
    ) -> bool:
        """Whether no node before had the same of this description, as far as it is looked at."""
        key = number, what
        if variables:
            if key not in self._with_macros:
                self._with_macros[key] = any(
                    "$" in value and concerns(name) for name, value in text.values.items()
                )
            if self._with_macros[key] or any(concerns(one.key.lower()) for one in variables):
                return True
        if key in self._looked_at:
            return False
        self._looked_at.add(key)
        return True

    def _values(self, node: int, text: SubmitText, get: Get) -> None:
        for _, problem in value_rules.value_problems(get):
            self._note(node, VALUE, problem.partition("\n")[0])
        for problem in self._expression_problems(text, get):
            self._note(node, VALUE, problem)
        for key in _TYPED:
            what = odd(text.values.get(key, ""))
            if what:
                self._note(node, ODD, f"{key} has {what}")

    def report(self) -> None:
        """Tell what was found, each once, with the first node."""
        for (code, what), node in self._seen.items():
            name, submit = self._dag.names[node], self._dag.submits[node]
            source = "the description" if submit in self._dag.descriptions else submit
            message = f"{source} of node {name}: {what}"
            self._findings.add(code, message, place=self._dag.place(node), node=name)

    def _note(self, node: int, code: str, what: str) -> None:
        if len(self._seen) < MAX_KINDS:
            self._seen.setdefault((code, what), node)

    def _expression_problems(self, text: SubmitText, get: Get) -> Iterator[str]:
        for key in text.values:
            attribute = value_rules.attribute_of(key)
            value: str | None = get(key) if attribute else ""
            if value and self._expression_problem(value):
                yield f"parse error in expression {key} = {value}"

    def _expression_problem(self, value: str) -> str:
        if value not in self._expressions:
            if len(self._expressions) >= MAX_KINDS:
                self._expressions.clear()
            self._expressions[value] = self._world.expression_problem(value)
        return self._expressions[value]

    def _files(self, node: int, text: SubmitText, get: Get) -> None:
        inside = self._dag.directories.get(node, "")
        initial = first_of(get, value_rules.DIRECTORIES)
        if initial is None:
            return
        home = os.path.join(inside, initial)
        if initial and not self._world.is_directory(home):
            self._note(node, NEEDED, f"initialdir {initial} is not a directory")
            return  # all that is in it is missing as well
        proxy = get(value_rules.PROXY)
        if proxy and self._kind(home, proxy) is FileKind.MISSING:
            self._note(node, NEEDED, f"x509userproxy {proxy} does not exist")
        items = _FROM.fullmatch(text.queue)
        if items and "$" not in items[1] and self._kind(inside, items[1]) is FileKind.MISSING:
            self._note(node, NEEDED, f"the list {items[1]} of its queue statement does not exist")
        self._program(node, get, inside)
        self._inputs(node, get, home)
        self._outputs(node, get, home)

    def _program(self, node: int, get: Get, inside: str) -> None:
        universe, transfer = get("universe"), get("transfer_executable")
        if universe is None or transfer is None or first_of(get, ("shell",)) != "":
            return
        if universe.strip().lower() in _NO_FILES or transfer.strip().lower() in _FALSE:
            return
        program = first_of(get, _PROGRAM)
        transfers = (get("should_transfer_files") or "").strip().lower()
        if not program or "://" in program or transfers in _FALSE:
            return
        if self._kind(inside, program.strip('"')) is FileKind.MISSING:
            self._note(node, FILE, f"executable {program} does not exist")

    def _inputs(self, node: int, get: Get, home: str) -> None:
        if (get("should_transfer_files") or "").strip().lower() in _FALSE:
            return
        named = [("input", first_of(get, _STANDARD[0]) or "")]
        files = (first_of(get, _INPUTS) or "").strip('"')
        named += [("transfer_input_files", one.strip()) for one in files.split(",")]
        for key, file in named:
            if not file or any(sign in file for sign in ("://", "$", "*")):
                continue
            if self._kind(home, file.rstrip("/") or "/") is FileKind.MISSING:
                self._note(node, FILE, f"{key} {file} does not exist")

    def _outputs(self, node: int, get: Get, home: str) -> None:
        if any(get(key) != "" for key in _ELSEWHERE):
            return
        for names in (*_STANDARD[1:], ("log", "userlog")):
            directory = os.path.dirname(first_of(get, names) or "")
            if not directory or "://" in directory or "$" in directory:
                continue
            if not self._world.is_directory(os.path.join(home, directory)):
                what = f"the directory {directory} of its {names[0]} file does not exist"
                self._note(node, FILE, what)

    def _kind(self, home: str, file: str) -> FileKind:
        return self._world.kind(os.path.join(home, file))
