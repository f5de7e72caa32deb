"""What each command of a DAG file does to the Dag: one method a command.

The rules, and the texts of warnings and errors, are stock DAGMan's.
"""

from __future__ import annotations

import difflib
import os.path
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.graph import model
from condor_pydagman.graph.model import Dag, Retry, Script, StatusFile, Variable
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.vocabulary import NodeKind, ScriptKind

ALL_NODES = "ALL_NODES"
MOST_WARNINGS = 1000
MOST_SHARED = 1 << 10  # values remembered for sharing; with more the look-up costs what it saves
MOST_COMPARED = 2000  # node names among which a misspelt one is looked for

# DAGMAN_USE_STRICT from which a warning is fatal; NEVER is above every level.
STRICT_MIDDLE, STRICT_HIGH, NEVER = 2, 3, 4

_T = TypeVar("_T")


@dataclass(frozen=True)
class BuildOptions:
    """How DAG files become a Dag; most fields are knobs of the same name in `config`.

    Attributes:
        priority: added to the priority of every node (-Priority, DAGMAN_DEFAULT_PRIORITY).
        use_dag_dir: every node runs in the directory of its DAG file (-usedagdir).
        strict: DAGMAN_USE_STRICT, 0 to 3: which warnings are fatal.
        cwd: what directories that -usedagdir gives to nodes are joined to, '' leaves them relative.
    """

    use_join_nodes: bool = True
    munge_node_names: bool = True
    allow_any_node_name_characters: bool = False
    default_append_vars: bool = False
    use_dag_dir: bool = False
    priority: int = 0
    strict: int = 1
    cwd: str = ""


class Applier:
    """Obeys commands, of one file after the other, by changing a Dag.

    Every method raises ProcessingError, without its place, if the command can't be obeyed.
    """

    def __init__(self, dag: Dag, options: BuildOptions) -> None:
        self.dag = dag
        self._options = options
        self._prefix = ""
        self._directory = ""
        self._joins = 0
        self._inlines = 0
        self._lost_warnings = 0
        self._shared: dict[Any, Any] = {}
        self._texts: dict[str, str] = {}
        self._single: list[dict[tuple[str, str], Variable]] = [{}, {}]  # by `append`
        self._lines: list[dict[tuple[tuple[str, str], ...], tuple[Variable, ...]]] = [{}, {}]
        self._methods = self._table()

    def enter(self, file: str, prefix: str) -> None:
        """Commands that follow are those of `file`; its node names get `prefix`."""
        self._prefix = prefix
        self.dag.begin_file()
        if self._options.use_dag_dir:
            directory = os.path.dirname(file)
            self._directory = os.path.join(self._options.cwd, directory) if directory else ""

    def apply(self, command: Command) -> None:
        """Obey `command`."""
        self._methods[type(command)](command)

    def close(self) -> None:
        """After the last file: what stock DAGMan does and warns of when all is read."""
        self._warn_of_categories()
        if self._options.priority:
            for node in range(len(self.dag)):
                own = self.dag.priorities.get(node, 0)
                self.dag.priorities[node] = own + self._options.priority
        if self._lost_warnings:
            self.dag.warnings.append(f"Warning: {self._lost_warnings} more warnings not shown")

    def _table(self) -> dict[type, Callable[[Any], None]]:
        return {
            commands.Job: self._job,
            commands.SubmitDescription: self._submit_description,
            commands.ParentChild: self._parent_child,
            commands.ScriptLine: self._script,
            commands.RetryLine: self._retry,
            commands.AbortDagOn: self._abort_dag_on,
            commands.Vars: self._vars,
            commands.Priority: self._priority,
            commands.PreSkip: self._pre_skip,
            commands.Category: self._category,
            commands.MaxJobs: self._max_jobs,
            commands.Done: self._done,
            commands.NodeStatusFile: self._node_status_file,
            commands.JobstateLog: self._jobstate_log,
            commands.Dot: self._dot,
            commands.Reject: self._reject,
        }

    def _job(self, command: commands.Job) -> None:
        dag, name, submit = self.dag, self._prefix + command.name, command.submit
        if name in dag.ids:
            _fail(f"Node {name} already exists in DAG.", "give one of the two nodes another name")
        if command.directory and self._options.use_dag_dir:
            _fail("Node DIR <directory> sub-command can not be used with -UseDagDir")
        if command.description is not None:
            submit = f"{name}-InlineDesc{self._inlines}"
            self._inlines += 1
            dag.descriptions[submit] = command.description
        elif submit.endswith(".condor.sub"):
            raise ProcessingError(
                "The use of the JOB keyword for nested DAGs is prohibited.",
                file="",
                hint="write SUBDAG EXTERNAL and the name of the DAG file",
                prefix="Error: ",
            )
        flags = model.NOOP * command.noop
        flags |= (model.DONE | model.USER_DONE) * command.done
        node = dag.add_node(name, self._text(submit), NodeKind.JOB, flags, command.line)
        directory = command.directory or self._directory
        if directory:
            dag.directories[node] = self._text(directory)

    def _submit_description(self, command: commands.SubmitDescription) -> None:
        if command.name in self.dag.descriptions:
            self._warn(
                f"Warning: Inline Description name '{command.name}' used multiple time."
                " Overwritting...",
                NEVER,
            )
        self.dag.descriptions[command.name] = command.description

    def _parent_child(self, command: commands.ParentChild) -> None:
        if len(command.parents) == len(command.children) == 1:  # nearly every line
            ids, prefix = self.dag.ids, self._prefix
            parent = ids.get(prefix + command.parents[0])
            child = ids.get(prefix + command.children[0])
            if parent is not None and child is not None:
                self.dag.add_edges((parent,), (child,))
                return
        parents = self._ends(command.parents, "parent")
        children = self._ends(command.children, "child")
        if len(parents) > 1 and len(children) > 1 and self._options.use_join_nodes:
            join = self._join_node()
            self.dag.add_edges(parents, (join,))
            self.dag.add_edges((join,), children)
        else:
            self.dag.add_edges(parents, children)

    def _ends(self, names: tuple[str, ...], which: str) -> list[int]:
        """Nodes at one end of the edges.  Sorted by name, as in stock: their order shows later."""
        ids, prefix, found = self.dag.ids, self._prefix, []
        for name in names if len(names) == 1 else sorted(set(names)):
            node = ids.get(prefix + name)
            if node is None:
                _fail(f"Unknown {which} node {prefix + name} specified", self._near(name))
            found.append(node)
        return found

    def _join_node(self) -> int:
        name = f"_condor_join_node{self._joins}"
        if name in self.dag.ids:
            _fail(f"Join node name {name} already in use in DAG!!!", "rename that node")
        self._joins += 1
        return self.dag.add_node(name, "DNE.sub", flags=model.NOOP | model.JOIN)

    def _script(self, command: commands.ScriptLine) -> None:
        if command.kind is ScriptKind.HOLD:
            _fail("SCRIPT HOLD is not supported by this version yet", "leave the line out")
        script = self._share(Script(*command[3:]))
        for node in self._nodes(command.node):
            old = self.dag.scripts.get(node, {})
            if command.kind in old:
                self._warn(
                    f"Warning: node {self.dag.names[node]} already has {command.kind.value} script"
                    f" <{old[command.kind].command}> assigned; changing to <{script.command}>",
                    NEVER,
                )
            self.dag.scripts[node] = self._with_script(old, command.kind, script)

    def _with_script(
        self, old: dict[ScriptKind, Script], kind: ScriptKind, script: Script
    ) -> dict[ScriptKind, Script]:
        """A dictionary that may be shared by many nodes and hence is never changed."""
        scripts = {**old, kind: script}
        return self._recall(tuple(scripts.items()), scripts)

    def _retry(self, command: commands.RetryLine) -> None:
        for node in self._nodes(command.node):
            unless_exit = command.unless_exit
            if unless_exit is None:  # an earlier UNLESS-EXIT stays
                old = self.dag.retries.get(node)
                unless_exit = old.unless_exit if old else 0
            self.dag.retries[node] = self._share(Retry(command.limit, unless_exit))

    def _abort_dag_on(self, command: commands.AbortDagOn) -> None:
        abort = self._share(model.Abort(command.status, command.exit_code))
        for node in self._nodes(command.node):
            self.dag.aborts[node] = abort

    def _vars(self, command: commands.Vars) -> None:
        new = self._variables(command)
        known = self.dag.variables
        for node in self._nodes(command.node):
            old = known.get(node)
            known[node] = self._share(self._merged(node, old, new)) if old else new

    def _variables(self, command: commands.Vars) -> tuple[Variable, ...]:
        """The line's variables; equal lines share the tuple, others what they have in common."""
        append = command.append
        if append is None:
            append = self._options.default_append_vars
        lines, single = self._lines[append], self._single[append]
        found = lines.get(command.pairs)
        if found is not None:
            return found
        if len(single) >= MOST_SHARED or len(lines) >= MOST_SHARED:
            single.clear()
            lines.clear()
        new = []
        for pair in dict(command.pairs).items():  # of a key named twice the last value counts
            variable = single.get(pair)
            if variable is None:
                variable = single[pair] = Variable(self._text(pair[0]), pair[1], append)
            new.append(variable)
        lines[command.pairs] = variables = tuple(new)
        return variables

    def _merged(
        self, node: int, old: tuple[Variable, ...], new: tuple[Variable, ...]
    ) -> tuple[Variable, ...]:
        """`old` and `new`; a key that is named again keeps its placement and gets the new value."""
        merged = {variable.key: variable for variable in old}
        for variable in new:
            known = merged.get(variable.key)
            if known is None:
                merged[variable.key] = variable
                continue
            self._warn(
                f'Warning: VAR "{variable.key}" is already defined in node "{self.dag.names[node]}"'
                f'\n        Setting VAR "{variable.key}" = "{variable.value}"',
                STRICT_HIGH,
            )
            merged[variable.key] = known._replace(value=variable.value)
        return tuple(merged.values())

    def _priority(self, command: commands.Priority) -> None:
        for node in self._nodes(command.node):
            old = self.dag.priorities.get(node, 0)
            if old not in (0, command.value):
                self._warn(
                    f"WARNING: New priority {command.value} for node {self.dag.names[node]}"
                    f" overrides old value {old}",
                    STRICT_MIDDLE,
                )
            self.dag.priorities[node] = command.value

    def _pre_skip(self, command: commands.PreSkip) -> None:
        value = command.exit_code
        for node in self._nodes(command.node):
            name, old = self.dag.names[node], self.dag.pre_skips.get(node)
            if not 0 <= value <= 255:
                _fail(
                    f"Failed to add pre skip to {name}:"
                    " PRE_SKIP exit code must be between 0 and 255"
                )
            if value == 0:
                self._warn("Warning: exit code 0 for a PRE_SKIP value is weird.", NEVER)
            if old not in (None, value):
                self._warn(
                    f"Warning: new PRE_SKIP value  {value} for node {name}"
                    f" overrides old value {old}",
                    STRICT_HIGH,
                )
            self.dag.pre_skips[node] = value

    def _category(self, command: commands.Category) -> None:
        category = self._text(command.category)
        for node in self._nodes(command.node):
            old = self.dag.categories.get(node)
            if old not in (None, category):
                self._warn(
                    f"Warning: new category {category} for node {self.dag.names[node]}"
                    f" overrides old value {old}",
                    STRICT_HIGH,
                )
            self.dag.categories[node] = category

    def _max_jobs(self, command: commands.MaxJobs) -> None:
        old = self.dag.category_limits.get(command.category)
        if old not in (None, command.limit):
            self._warn(
                f"Warning: new maxjobs value {command.limit} for category {command.category}"
                f" overrides old value {old}",
                STRICT_HIGH,
            )
        self.dag.category_limits[command.category] = command.limit

    def _done(self, command: commands.Done) -> None:
        node = self.dag.ids.get(self._prefix + command.node)
        if node is None:
            _fail(
                f"Unknown node {self._prefix + command.node} referenced", self._near(command.node)
            )
        self.dag.flags[node] |= model.DONE

    def _node_status_file(self, command: commands.NodeStatusFile) -> None:
        old = self.dag.status_file
        if old is not None:
            self._warn(_not_overridden("NODE_STATUS_FILE", command.file, old.file), STRICT_HIGH)
            return
        self.dag.status_file = StatusFile(command.file, command.interval, command.always)

    def _jobstate_log(self, command: commands.JobstateLog) -> None:
        old = self.dag.jobstate_log
        if old:
            self._warn(_not_overridden("JOBSTATE_LOG", command.file, old), STRICT_HIGH)
            return
        self.dag.jobstate_log = command.file

    def _dot(self, command: commands.Dot) -> None:
        self.dag.dot = model.DotFile(*command[1:])

    def _reject(self, command: commands.Reject) -> None:
        raise ProcessingError(
            "DAG marked as rejected",
            file="",
            prefix="",
            hint="take out the REJECT line when the DAG is ready to be run",
        )

    def _nodes(self, name: str) -> Sequence[int]:
        """The node of that name, or all nodes so far."""
        node = self.dag.ids.get(self._prefix + name)
        if node is not None:
            return (node,)
        if name.upper() != ALL_NODES:
            _fail(f"Unknown node {self._prefix + name} referenced", self._near(name))
        if not self.dag.names:
            _fail(f"Unknown node {name} referenced.", "there is no node before this line's file")
        return range(len(self.dag))

    def _near(self, name: str) -> str:
        if len(self.dag) > MOST_COMPARED or len(name) > 100:
            return ""
        near = difflib.get_close_matches(self._prefix + name, self.dag.names, 1, 0.7)
        return f"did you mean {near[0][len(self._prefix) :]}?" if near else ""

    def _warn(self, text: str, fatal_from: int) -> None:
        if len(self.dag.warnings) < MOST_WARNINGS:
            self.dag.warnings.append(text)
        else:
            self._lost_warnings += 1
        if self._options.strict >= fatal_from:
            _fail(
                "Warning is fatal error because of DAGMAN_USE_STRICT setting",
                f"the warning is: {text}",
            )

    def _warn_of_categories(self) -> None:
        limits, used = self.dag.category_limits, set(self.dag.categories.values())
        for category in sorted(used | set(limits)):
            if category not in used:
                self._warn(
                    f"Warning: category {category} has no assigned nodes, so the throttle setting"
                    f" ({limits[category]}) will have no effect",
                    STRICT_MIDDLE,
                )
            elif category not in limits:
                self._warn(f"Warning: category {category} has no throttle value set", STRICT_MIDDLE)

    def _text(self, text: str) -> str:
        """An equal text seen before, else `text`: a million equal ones take the space of one."""
        texts = self._texts
        if len(texts) >= MOST_SHARED:
            texts.clear()
        return texts.setdefault(text, text)

    def _share(self, value: _T) -> _T:
        """As `_text`, for tuples; the type counts, for equal tuples can mean different things."""
        return self._recall((type(value), value), value)

    def _recall(self, key: Any, value: _T) -> _T:
        if len(self._shared) >= MOST_SHARED:
            self._shared.clear()
        shared: _T = self._shared.setdefault(key, value)
        return shared


def _fail(message: str, hint: str = "") -> NoReturn:
    raise ProcessingError(message, file="", hint=hint)


def _not_overridden(word: str, new: str, old: str) -> str:
    return f"Warning: Attempt to set {word} to {new} does not override existing value of {old}"
