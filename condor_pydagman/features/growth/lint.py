"""Findings about what EXTEND and SCATTER add to the DAG, as far as that is known before it runs.

A file that is there already is read as DAGMan will read it when the node has ended well; the node
may write it anew, so nothing that is found there is an error.  The submit description of a SCATTER
whose list is not there, or is wrong, is looked at with a list that is made up.
"""

from __future__ import annotations

import os.path

from condor_pydagman.errors import FileError
from condor_pydagman.features.growth.commands import PLACE, Extension, Scatter, growth_of
from condor_pydagman.features.growth.piece_now import read_now
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import DONE, NOOP, Dag
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.lint.description_rules import check_macros
from condor_pydagman.lint.file_rules import check_files
from condor_pydagman.lint.findings import Code, FileKind, Finding, Findings, Severity, World
from condor_pydagman.vocabulary import NodeKind

CODE = "DAG417"
CODES = {
    CODE: Code(
        Severity.WARNING,
        "a file of EXTEND or SCATTER that has errors now, or can't exist later",
        "the node fails if this is still so when its job has succeeded",
    ),
}


def check_around(dag: Dag, world: World, findings: Findings, options: BuildOptions) -> None:
    """Look at every EXTEND and SCATTER of a DAG that is right."""
    for node, how in growth_of(dag).extensions.items():
        if not dag.flags[node] & DONE:
            _Adder(dag, node, how, world, findings, options).check()


class _Adder:
    """A node that adds to the DAG."""

    def __init__(
        self,
        dag: Dag,
        node: int,
        how: Extension,
        world: World,
        findings: Findings,
        options: BuildOptions,
    ) -> None:
        self._dag = dag
        self._node = node
        self._how = how
        self._world = world
        self._findings = findings
        self._options = options
        self._word = "SCATTER" if isinstance(how, Scatter) else "EXTEND"
        self._name = dag.names[node]

    def check(self) -> None:
        """Look at its file, then at the nodes that it would add."""
        file = self._how.file
        kind = self._world.kind(file)
        added: Dag | None = None
        if kind in (FileKind.FILE, FileKind.EXECUTABLE):
            try:
                added = self._piece(self._world.read_text(file))
            except DagFileErrors as errors:
                self._tell_errors(errors)
            except (OSError, FileError) as error:
                self._tell(f"{file} can't be read: {error}")
        else:
            self._tell(self._why_not_there(kind))
        if added is None and isinstance(self._how, Scatter):
            added = self._sample(self._how)
        if added is not None:
            self._check_nodes(added)

    def _tell(self, what: str) -> None:
        if what:
            message = f"{self._word} of node {self._name}: {what}"
            self._findings.of_node(CODE, self._dag, self._node, message, self._word)

    def _tell_errors(self, errors: DagFileErrors) -> None:
        later = f"unless node {self._name} rewrites the file, it fails"
        for error in errors.errors:
            message = f"{error.command}: {error.message}" if error.command else error.message
            self._findings.add(
                CODE,
                f"{self._word} of node {self._name}: {message}",
                place=f"{error.file}:{error.place}",
                hint=f"{later}. {error.hint or error.usage}".rstrip(". "),
            )
            self._findings.add_excerpt(CODE, error)
        if errors.lost:
            self._findings.count(CODE, more=errors.lost)

    def _why_not_there(self, kind: FileKind) -> str:
        """Why the file will not be there; '' if the node, or one before it, may write it."""
        file = self._how.file
        directory, name = os.path.split(file)
        if kind is FileKind.OTHER:
            return f"{file} is not a regular file"
        if directory and not self._world.is_directory(directory):
            return f"{name} is expected in {directory}, but there is no such directory"
        dag, node = self._dag, self._node
        runs = not dag.is_noop(node) or dag.scripts.get(node) or dag.has_parents(node)
        if runs or NodeKind.PROVISIONER in dag.kinds:
            return ""
        return f"{file} does not exist, and no node runs that could write it"

    def _piece(self, text: str) -> Dag:
        """The nodes that the text of the file adds, and stand-ins that no rule looks at.

        Raises:
            DagFileErrors: it is refused.
            OSError, FileError: another file can't be read.
        """
        dag = self._dag
        piece = read_now(dag, self._node, text, self._world.read_text, self._options)
        for stand_in in range(piece.size, len(piece.dag)):
            piece.dag.flags[stand_in] |= DONE | NOOP
        piece.dag.descriptions = {**dag.descriptions, **piece.dag.descriptions}
        return piece.dag

    def _sample(self, how: Scatter) -> Dag | None:
        """The nodes of a list of two lines; None if it can't be made up."""
        texts = (how.pattern, *(value for _, value in how.pairs))
        numbers = [int(one) for text in texts for one in PLACE.findall(text) if one.isdigit()]
        lines = (
            " ".join(f"word{line}.{word}" for word in range(1, max(numbers, default=1) + 1))
            for line in (1, 2)
        )
        try:
            return self._piece("\n".join(lines))
        except DagFileErrors as errors:
            self._tell(errors.errors[0].message)
            return None

    def _check_nodes(self, added: Dag) -> None:
        own = Findings()
        check_files(added, self._world, own)
        check_macros(added, self._world, own, grown=True)
        for finding in own.kept:
            if finding.code != "DAG407":  # descriptions are the DAG's
                self._add(finding)
        for (code, severity), number in own.counts.items():
            kept = sum(one.code == code and one.severity is severity for one in own.kept)
            if code != "DAG407" and number > kept:
                self._findings.count(code, _at_most_warning(severity), number - kept)

    def _add(self, finding: Finding) -> None:
        place, words = f"{finding.file}:{finding.line}", finding.words
        if isinstance(self._how, Scatter):  # its list has neither submit files nor VARS
            place, words = self._dag.place(self._node), (self._word, self._name)
        self._findings.add(
            finding.code,
            f"{self._word} of node {self._name}: {finding.message}",
            place=place,
            node=finding.node,
            words=words,
            severity=_at_most_warning(finding.severity),
            hint=finding.hint,
        )


def _at_most_warning(severity: Severity) -> Severity:
    return min(severity, Severity.WARNING)
