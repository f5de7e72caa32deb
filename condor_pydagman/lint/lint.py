"""LINT: everything that the rules find in DAG files, with the place of each finding.

Rules speak of nodes and categories; a finding that is about a command other than a node's
definition gets that command's place by one more reading of the files, which looks for those few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from condor_pydagman.errors import DagFileError
from condor_pydagman.feature_table import home, own, part
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, ProcessingError, build
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.scope import Scope
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.lexer import MAX_EXCERPT_LENGTH
from condor_pydagman.lint.description_rules import check_macros, check_unset_macros
from condor_pydagman.lint.external import OutlineOptions
from condor_pydagman.lint.file_rules import check_config, check_files
from condor_pydagman.lint.findings import Finding, Findings, World
from condor_pydagman.lint.graph_rules import check_cycles, check_graph
from condor_pydagman.lint.outline import read_outline, word_of
from condor_pydagman.lint.partial import build_partial
from condor_pydagman.lint.request_rules import check_requests

MAX_TEXT_LENGTH = 160
_CUT_OFF = "The command is ignored: its last line ends in"


def lint(
    files: Sequence[str],
    world: World,
    options: BuildOptions,
    asked: Iterable[Any] = (),
    known: Dag | None = None,
) -> Findings:
    """Check the DAG that `files` make together.

    Of a DAG that DAGMan would refuse all errors are found, and what can be said of the nodes that
    are understood: missing files, and cycles.  Other rules would blame good lines for bad ones.

    `asked` are the modules of features that options ask for (`features.asked_by`); `known` is the
    DAG if it has been read, perhaps with what is done in it.

    `findings.kept` comes sorted by file and line.
    """
    findings = Findings()
    try:
        dag = build(files, world.read_blocks, options) if known is None else known
    except DagFileErrors as first:
        dag, errors = build_partial(files, world.read_blocks, options)
        for error in errors.kept or first.errors:
            _add_error(error, findings)
        if errors.lost:
            findings.count("DAG101", more=errors.lost)
        check_cycles(dag, findings)
        texts = [error.text.lower() for error in errors.kept]
        if not errors.all_doubtful and max(map(len, texts)) < MAX_EXCERPT_LENGTH:
            check_unset_macros(dag, world, findings, set(re.findall(r"\w+", " ".join(texts))))
    else:
        for feature in asked:
            feature.of_option(dag)
        check_graph(dag, findings)
        check_macros(dag, world, findings)
        for name in dag.features:  # what they find that is not of the Dag alone
            check = own(name, "lint", "check_around")
            if check is not None:
                check(dag, world, findings, options)
    for remark in dag.remarks:
        code = "DAG105" if remark.message.startswith(_CUT_OFF) else "DAG106"
        findings.add(code, remark.message, place=f"{remark.file}:{remark.line}")
    check_files(dag, world, findings)
    check_requests(dag, world, findings)
    check_config(files, world, findings, use_dag_dir=options.use_dag_dir)
    del dag
    _Locator(findings, world).locate(files, options)
    _show_lines(findings, world)
    findings.kept.sort(key=_order)
    return findings


def place_of(
    words: tuple[str, ...], files: Sequence[str], world: World, options: BuildOptions
) -> tuple[str, str]:
    """Where the first command stands that has `Finding.words`, as `PARENT` with a parent and its
    child: `file:line`, and that line; a pair of '' if there is none."""
    findings = Findings()
    findings.add("DAG101", "", words=words)
    _Locator(findings, world).locate(files, options)
    _show_lines(findings, world)
    found = findings.kept[0]
    return (f"{found.file}:{found.line}", found.text) if found.line else ("", "")


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.file, finding.line, finding.column, finding.code


def _add_error(error: DagFileError, findings: Findings) -> None:
    code = "DAG101"
    if isinstance(error, ProcessingError):
        code = "DAG103" if error.message.startswith("Failed to open") else "DAG104"
    elif "is not a valid DAG command" in error.message:
        code = "DAG102"
    message = error.message
    if error.command:
        message = f"{error.command}: {message}"
    hint = error.hint or (f"usage: {error.usage}" if error.usage and code == "DAG101" else "")
    findings.add(code, message, place=f"{error.file}:{error.place}", hint=hint)
    findings.add_excerpt(code, error)


class _Locator:
    """Looks for the commands that findings are about."""

    def __init__(self, findings: Findings, world: World) -> None:
        self._findings = findings
        self._world = world
        self._wanted: dict[tuple[str, ...], list[int]] = {}
        self._prefix = ""
        for number, finding in enumerate(findings.kept):
            if finding.words:
                self._wanted.setdefault(finding.words, []).append(number)
        self._words = {words[0] for words in self._wanted}

    def locate(self, files: Sequence[str], options: BuildOptions) -> None:
        """Give findings the place of their command, where it is found."""
        if not self._wanted:
            return
        outline = OutlineOptions(
            use_join_nodes=options.use_join_nodes,
            allow_illegal_chars=options.allow_any_node_name_characters,
            use_dag_dir=options.use_dag_dir,
        )
        munge = options.munge_node_names and len(files) > 1
        for number, file in enumerate(files):
            self._prefix = f"{number}." if munge else ""
            read_outline(file, self._world, outline, self._watch)

    def _watch(self, building: Building, command: Command) -> None:
        word = word_of(command)
        if word not in self._words:
            return
        for key in self._keys(building.scope, command, word):
            for number in self._wanted.pop(key, ()):
                finding = self._findings.kept[number]
                self._findings.kept[number] = finding._replace(
                    file=building.dag.places.file, line=command.line
                )

    def _keys(self, scope: Scope, command: Command, word: str) -> list[tuple[str, ...]]:
        """The `words` of findings that may be about `command`."""
        prefix = self._full_prefix(scope.prefix)
        if isinstance(command, commands.ParentChild):
            parents = {prefix + name for name in command.parents}
            children = {prefix + name for name in command.children}
            return [
                key
                for key in self._wanted
                if key[0] == word and key[1] in parents and key[2] in children
            ]
        category = command.category if isinstance(command, commands.MaxJobs) else ""
        if category:
            outer = scope.prefix + category
            return [(word, category), (word, outer), (word, prefix + category)]
        if isinstance(command, commands.SubmitDescription):
            return [(word, command.name)]
        if home(type(command)):
            is_about = getattr(part(home(type(command)), "lint"), "is_about", None)
            if is_about is not None:
                prefixes = "", scope.prefix, prefix
                own = [key for key in self._wanted if key[0] == word]
                return [key for key in own if is_about(command, key[1:], prefixes)]
        name = getattr(command, "node", "")
        if name.upper() == "ALL_NODES":
            return [key for key in self._wanted if key[0] == word and _is_set(command, key)]
        if name in scope.sets:
            return [key for key in self._of_set(word, prefix + name) if _is_set(command, key)]
        name = prefix + name
        if isinstance(command, commands.Vars):
            return [(word, name, key) for key, _ in command.pairs]
        if isinstance(command, commands.ScriptLine):
            return [(word, command.kind.value, name)]
        return [(word, name)]

    def _of_set(self, word: str, name: str) -> list[tuple[str, ...]]:
        """Those of findings about nodes of a set; its name is the pattern of theirs."""
        pattern = re.compile(re.sub(r"\\{.*?\\}", ".*", re.escape(name)))
        return [key for key in self._wanted if key[0] == word and any(map(pattern.fullmatch, key))]

    def _full_prefix(self, prefix: str) -> str:
        """With several DAG files each part of a name carries the file's number."""
        if not self._prefix:
            return prefix
        parts = prefix.split("+")
        return "+".join([self._prefix + part for part in parts[:-1]] + [self._prefix])


def _is_set(command: Command, words: tuple[str, ...]) -> bool:
    """Whether a command, if it is VARS, sets the macro that a finding is about."""
    return not isinstance(command, commands.Vars) or words[-1] in dict(command.pairs)


def _show_lines(findings: Findings, world: World) -> None:
    """Give findings the text of their line, and the place of the node's name there."""
    texts: dict[str, list[str]] = {}
    for number, finding in enumerate(findings.kept):
        if not finding.line or finding.text:
            continue
        lines = texts.get(finding.file)
        if lines is None:
            lines = texts[finding.file] = _lines(finding.file, world)
        if finding.line <= len(lines):
            line = _line_of_name(lines, finding)
            raw = lines[line - 1].rstrip()
            shown = raw.lstrip()[:MAX_TEXT_LENGTH]
            caret = _caret(shown, finding)
            column = caret + len(raw) - len(raw.lstrip()) if caret else 0
            findings.kept[number] = finding._replace(
                line=line, text=shown, column=column, caret=caret
            )


def _line_of_name(lines: Sequence[str], finding: Finding) -> int:
    """The line with the name that the finding is about: a command over several lines stands at the
    last of them."""
    for line in range(finding.line, 0, -1):
        if _caret(lines[line - 1].strip()[:MAX_TEXT_LENGTH], finding):
            return line
        if line == 1 or not lines[line - 2].rstrip().endswith("\\"):
            break
    return finding.line


def _lines(file: str, world: World) -> list[str]:
    try:
        return world.read_text(file).split("\n")
    except Exception:  # it could be read before; without it a finding has no excerpt
        return []


def _caret(text: str, finding: Finding) -> int:
    """Where in `text` the name stands that the finding is about, from 1; 0 if nowhere."""
    wanted = finding.words[-1] if finding.words else finding.node
    inside = wanted.rpartition("+")[2]  # as the splice's own file calls it
    for name in (wanted, inside, inside.partition(".")[2], "ALL_NODES"):
        found = re.search(rf"(?<!\S){re.escape(name)}(?![^\s=])", text) if name else None
        if found:
            return found.start() + 1
    return 0
