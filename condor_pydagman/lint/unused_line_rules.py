"""Findings about lines of submit descriptions that are used by nothing; most are typing errors."""

from __future__ import annotations

from condor_pydagman.graph.model import Dag
from condor_pydagman.language.hints import nearest
from condor_pydagman.language.submit_file import KEYWORDS, SubmitText, mentioned
from condor_pydagman.language.submit_warnings import unused_lines
from condor_pydagman.lint.findings import Findings

CODE = "DAG422"
MAX_VALUE_LENGTH = 60
MAX_NEIGHBOURS = 20  # lines for which the command that was meant is looked for


class UnusedLineRules:
    """Looks at one node after the other; a line counts as used if any node uses it."""

    def __init__(self, dag: Dag, findings: Findings) -> None:
        self._dag = dag
        self._findings = findings
        self._firsts: dict[int, tuple[int, SubmitText]] = {}
        self._named: dict[int, set[str]] = {}  # macros that VARS of nodes name
        self._of_any_universe: set[int] = set()  # VARS choose it
        self._compared = 0

    def look_at(self, node: int, number: int, text: SubmitText) -> None:
        """A node and its description, which has that number."""
        if not text.plain:
            return
        self._firsts.setdefault(number, (node, text))
        for one in self._dag.variables.get(node, ()):
            if "$" in one.value:
                self._named.setdefault(number, set()).update(mentioned(one.value))
            if one.key.lower() == "universe":
                self._of_any_universe.add(number)

    def report(self) -> None:
        """Tell of each line once, with the first node of its description."""
        for number, (node, text) in self._firsts.items():
            values = dict(text.values)
            values["my.vars"] = "".join(f"$({name})" for name in self._named.get(number, ()))
            if number in self._of_any_universe:
                values["universe"] = "$(universe)"
            for one in unused_lines(values, text.queue):
                if one.value is not None and one.name in text.values:
                    self._add(node, one.name, one.value)

    def _add(self, node: int, key: str, value: str) -> None:
        dag = self._dag
        name, submit = dag.names[node], dag.submits[node]
        source = "the description" if submit in dag.descriptions else submit
        message = f"{source} of node {name}: nothing uses the line {key} ="
        message += f" {value[:MAX_VALUE_LENGTH]}"
        meant = ""
        if self._compared < MAX_NEIGHBOURS:
            self._compared += 1
            meant = nearest(key, KEYWORDS).lower()
        hint = f"did you mean {meant}?" if meant and meant != key else ""
        self._findings.add(CODE, message, place=dag.place(node), node=name, hint=hint)
