"""The commands of the DAG language as methods; made by `python -m tools.generate`.

Names, types and texts are those of the tables by which DAG files are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar, Union

# Texts stand for nodes as well: their names.
Names = Union[str, Iterable[Any]]
Pairs = Union[Mapping[str, Any], Iterable[tuple[str, Any]]]
Self = TypeVar("Self", bound="Commands")


class Commands:
    """What has commands of the language as methods."""

    __slots__ = ()

    def _add(self: Self, word: str, **values: Any) -> Self:
        """Add a command.

        Args:
            word: its word, as in `language.keywords`.
            values: its fields; a node stands for its name, and for the value of several fields
                stands a `dict` of those of which one must be given.

        Raises:
            DagError: no line of a DAG file says this.
            TypeError: a value is of the wrong type.
        """
        raise NotImplementedError


class NodeCommands(Commands):
    """The commands that are about a node, or about each of several."""

    __slots__ = ()

    def pin_in(self: Self, number: int) -> Self:
        """Makes the node an input of the splice it is in.

        Its line: `PIN_IN <node> <pin number>`.

        Puts the node on a numbered pin, from 1, of its splice.
        """
        return self._add("PIN_IN", number=number, out=False)

    def pin_out(self: Self, number: int) -> Self:
        """Makes the node an output of the splice it is in.

        Its line: `PIN_OUT <node> <pin number>`.

        Puts the node on a numbered pin, from 1, of its splice.
        """
        return self._add("PIN_OUT", number=number, out=True)

    def script(
        self: Self,
        kind: Literal["PRE", "POST", "HOLD"],
        command: str,
        *,
        defer_status: int | None = None,
        defer_seconds: int = 0,
        debug_file: str = "",
        debug_stream: str = "",
        defer_times: int = 0,
        defer_for: int = 0,
        defer_backoff: float = 1.0,
        defer_max_delay: int = 0,
    ) -> Self:
        """A script before the node's jobs, after them, or when one of them is held.

        Its line: `SCRIPT [DEFER <status> <time>] [DEBUG <file> (STDOUT|STDERR|ALL)] (PRE|POST|HOLD)
        <node> <script> <arguments ...>`.

        `command` is the raw rest of the line.

        Args:
            defer_times, defer_for: how often DEFER puts it off at most, and for how many seconds in
                all; 0 for no limit.
            defer_backoff, defer_max_delay: by how much the delay is multiplied each time, and the
                seconds that it does not grow beyond; 0 for no limit.
        """
        return self._add(
            "SCRIPT",
            kind=kind,
            command=command,
            defer_status=defer_status,
            defer_seconds=defer_seconds,
            debug_file=debug_file,
            debug_stream=debug_stream,
            defer_times=defer_times,
            defer_for=defer_for,
            defer_backoff=defer_backoff,
            defer_max_delay=defer_max_delay,
        )

    def retry(
        self: Self,
        limit: int,
        *,
        unless_exit: Iterable[int] | None = None,
        only_if: Iterable[int] | None = None,
        delay: int | None = None,
        backoff: float | None = None,
        max_delay: int | None = None,
    ) -> Self:
        """How often a failed node is retried.

        Its line: `RETRY <node> <max retries> [UNLESS-EXIT <code>]`.

        What is None is not in the line; times are in seconds (see `Retry`).
        """
        return self._add(
            "RETRY",
            limit=limit,
            unless_exit=unless_exit,
            only_if=only_if,
            delay=delay,
            backoff=backoff,
            max_delay=max_delay,
        )

    def abort_dag_on(self: Self, status: int, *, exit_code: int | None = None) -> Self:
        """A return value that ends the DAG.

        Its line: `ABORT_DAG_ON <node> <status> [RETURN <code>]`.

        `exit_code` None where the line has no RETURN.
        """
        return self._add("ABORT_DAG_ON", status=status, exit_code=exit_code)

    def priority(self: Self, value: int) -> Self:
        """Which of the ready nodes are submitted first.

        Its line: `PRIORITY <node> <value>`.

        The bigger `value`, the earlier the node is submitted.
        """
        return self._add("PRIORITY", value=value)

    def pre_skip(self: Self, exit_code: int) -> Self:
        """The exit code of the PRE script that skips the node's job.

        Its line: `PRE_SKIP <node> <status>`.
        """
        return self._add("PRE_SKIP", exit_code=exit_code)

    def tolerance(
        self: Self, limit: int, *, percent: bool = False, fail_fast: bool | None = None
    ) -> Self:
        """How many of the node's jobs may fail before the node does.

        Its line: `TOLERANCE <node> <value>[%] [FAIL-FAST|WAIT]`.

        How many procs (or percent of them) may fail before the node does. `fail_fast` None where
        the line has neither FAIL-FAST (True) nor WAIT (False).
        """
        return self._add("TOLERANCE", limit=limit, percent=percent, fail_fast=fail_fast)

    def timeout(
        self: Self,
        *,
        queued: int | None = None,
        running: int | None = None,
        total: int | None = None,
        warn: bool = False,
    ) -> Self:
        """How long the node's jobs may wait, run, and take.

        Its line: `TIMEOUT (<node>|CATEGORY <category>) [QUEUED <time>] [RUNNING <time>] [TOTAL
        <time>] [WARN]`.

        Seconds; what is None is not in the line (see `Timeout`).

        Args:
            warn: whether what takes longer is late, and goes on: WARN, else ''.
        """
        return self._add("TIMEOUT", queued=queued, running=running, total=total, warn=warn)

    def category(self: Self, category: str) -> Self:
        """Puts the node into a category.

        Its line: `CATEGORY <node> <name>`.
        """
        return self._add("CATEGORY", category=category)

    def run_if(self: Self, expression: str, *, otherwise: Literal["SKIP", "DONE"] = "SKIP") -> Self:
        """The node runs if the expression is true when its parents have ended; else it is skipped.

        Its line: `RUN_IF <node> [ELSE SKIP|DONE] <ClassAd expression>`.

        Args:
            otherwise: SKIP or DONE, what the node counts as if it is false.
            expression: in a Dag, it has the full names of parents and categories.
        """
        return self._add("RUN_IF", otherwise=otherwise, expression=expression)

    def publish(self: Self, *, file: str = "", attributes: Names = ()) -> Self:
        """Values of the node that the RUN_IF of its children can name.

        Its line: `PUBLISH <node> (FILE <file>|ATTRIBUTES <name>[,<name>...])`.
        """
        return self._add("PUBLISH", file=file, attributes=attributes)

    def cache(
        self: Self,
        *,
        checksum: bool = False,
        inputs: Names = (),
        outputs: Names = (),
        counts: Names = (),
        ignores: Names = (),
    ) -> Self:
        """The node is not run again if nothing of it has changed since it was last done.

        Its line: `CACHE <node> [CHECKSUM] [INPUTS <file> ...] [OUTPUTS <file> ...] [COUNTS <name>
        ...] [IGNORES <name> ...]`.

        Args:
            checksum: files are compared by what is in them, not by size and time.
            inputs, outputs: names of files, relative to the node's directory, which may hold
                `$(JOB)` and names of VARS.
            counts, ignores: names of the submit description, in lower case, that count, or that do
                not, against the table of `cache.adapters.compared`; the last line about a name
                holds.
        """
        return self._add(
            "CACHE",
            checksum=checksum,
            inputs=inputs,
            outputs=outputs,
            counts=counts,
            ignores=ignores,
        )

    def extend(
        self: Self,
        file: str,
        *,
        between: bool = True,
        directory: str = "",
        prefix: str | None = None,
        trusted: bool = False,
    ) -> Self:
        """A DAG file that the node writes, and that is added to the DAG when it has ended well.

        Its line: `EXTEND <node> <dag file> [BETWEEN|ANYWHERE] [DIR <directory>] [PREFIX <prefix>]
        [TRUSTED]`.

        Args:
            between: whether the new nodes stand between the node and its children.
            directory: of the new nodes; '' for that of the file with the line.
            prefix: what their names begin with; None: as names of this file.
            trusted: whether the file may have every command.
        """
        return self._add(
            "EXTEND",
            file=file,
            between=between,
            directory=directory,
            prefix=prefix,
            trusted=trusted,
        )

    def scatter(
        self: Self,
        file: str,
        pattern: str,
        submit: str,
        *,
        directory: str = "",
        prefix: str | None = None,
        retries: int = 0,
        pairs: Pairs = (),
    ) -> Self:
        """A node for each line of a file that the node writes, added when it has ended well.

        Its line: `SCATTER <node> <list file> <name pattern> <submit description> [DIR <directory>]
        [PREFIX <prefix>] [RETRY <n>] [VARS <key>=<value> ...]`.

        Args:
            pattern: of the nodes' names.
            directory, prefix: as of EXTEND.
            retries: of each of the nodes, as of RETRY.
            pairs: variables of the nodes, with {item} and so on in their values.
        """
        return self._add(
            "SCATTER",
            file=file,
            pattern=pattern,
            submit=submit,
            directory=directory,
            prefix=prefix,
            retries=retries,
            pairs=pairs,
        )

    def save_point_file(self: Self, *, file: str = "") -> Self:
        """A file that saves the DAG's progress at this node.

        Its line: `SAVE_POINT_FILE <node> [<file>]`.
        """
        return self._add("SAVE_POINT_FILE", file=file)


class DagCommands(Commands):
    """The commands that are about the DAG, or about sets of its nodes."""

    __slots__ = ()

    def sweep(
        self: Self,
        name: str,
        submit: str,
        *,
        dimensions: Iterable[Any] = (),
        rows: str = "",
        directory: str = "",
        append: bool | None = None,
        pairs: Pairs = (),
    ) -> Self:
        """Nodes for all combinations of values, or for the rows of a table.

        Its line: `SWEEP <name> <submit description> (OVER <variable> IN <values> [OVER|ALONG
        ...]|ROWS <table>) [DIR <directory>] [VARS ...]`.

        Args:
            name: of the nodes, with `{variable}` for its value.
            rows: the file of the table, '' if there are `dimensions`.
            directory: of the nodes, with variables.
            append, pairs: as of Vars; values have variables.
        """
        return self._add(
            "SWEEP",
            name=name,
            submit=submit,
            dimensions=dimensions,
            rows=rows,
            directory=directory,
            append=append,
            pairs=pairs,
        )

    def reject(self: Self) -> Self:
        """A mark that this DAG must not be run.

        Its line: `REJECT`.
        """
        return self._add("REJECT")

    def dot(
        self: Self, file: str, *, update: bool = False, overwrite: bool = False, include: str = ""
    ) -> Self:
        """A picture of the DAG, for Graphviz.

        Its line: `DOT <file> [UPDATE|DONT-UPDATE] [OVERWRITE|DONT-OVERWRITE] [INCLUDE <header
        file>]`.
        """
        return self._add("DOT", file=file, update=update, overwrite=overwrite, include=include)

    def node_status_file(
        self: Self, file: str, *, interval: int = 60, always: bool = False
    ) -> Self:
        """A file that says how every node stands.

        Its line: `NODE_STATUS_FILE <file> [<min update time>] [ALWAYS-UPDATE]`.

        `interval` in seconds.
        """
        return self._add("NODE_STATUS_FILE", file=file, interval=interval, always=always)

    def jobstate_log(self: Self, file: str) -> Self:
        """A log of job states, as Pegasus reads it.

        Its line: `JOBSTATE_LOG <file>`.
        """
        return self._add("JOBSTATE_LOG", file=file)

    def notify(
        self: Self, kinds: str, *, program: str | None = None, url: str | None = None
    ) -> Self:
        """Events of the DAG that are handed to a program or a URL.

        Its line: `NOTIFY <events> (PROGRAM <path> [<arguments>]|URL <address>)`.

        Give one of `program`, `url`.

        Args:
            kinds: names of events, comma-separated; `dag.*`, `*` and `node.state=ERROR` as well.
        """
        return self._add("NOTIFY", kinds=kinds, to={"PROGRAM": program, "URL": url})

    def include(self: Self, file: str) -> Self:
        """The commands of another file, as if they stood here.

        Its line: `INCLUDE <dag file>`.
        """
        return self._add("INCLUDE", file=file)

    def sweep_parent(self: Self, parent: str, child: str, keys: Names) -> Self:
        """Dependencies between the nodes of two sweeps that belong together.

        Its line: `SWEEP_PARENT <sweep> CHILD <sweep> (ONE_TO_ONE|BY <variable> [<variable> ...])`.

        Edges between the nodes of two sweeps with equal values of `keys`, or, without any, between
        the first of both, the second of both, and so on.
        """
        return self._add("SWEEP_PARENT", parent=parent, child=child, keys=keys)

    def connect(self: Self, parent: str, child: str) -> Self:
        """Joins the output pins of a splice to the input pins of another.

        Its line: `CONNECT <splice 1> <splice 2>`.

        Joins the PIN_OUTs of splice `parent` to the PIN_INs of splice `child`.
        """
        return self._add("CONNECT", parent=parent, child=child)

    def maxjobs(self: Self, category: str, limit: int) -> Self:
        """How many nodes of a category may be in the queue.

        Its line: `MAXJOBS <category> <value>`.
        """
        return self._add("MAXJOBS", category=category, limit=limit)

    def site_group(
        self: Self, name: str, *, nodes: Names | None = None, splice: str | None = None
    ) -> Self:
        """Nodes that run at one site, which is chosen when the first of them is ready.

        Its line: `SITE_GROUP <name> (NODES <node1> [<node2> ...]|SPLICE <splice>|ALL_NODES)`.

        Give one of `nodes`, `splice`, or none: ALL_NODES.
        """
        return self._add("SITE_GROUP", name=name, members={"NODES": nodes, "SPLICE": splice})

    def site_policy(
        self: Self,
        group: str,
        *,
        requirements: Any | None = None,
        rank: Any | None = None,
        attribute: Any | None = None,
        wait: int | None = None,
        idle: int | None = None,
        held: int | None = None,
        gone: int | None = None,
        failures: int | None = None,
        rematch_if: Any | None = None,
        rounds: int | None = None,
        clean_up: Any | None = None,
        removal: int | None = None,
        old_site: Any | None = None,
    ) -> Self:
        """How the site of a group is chosen, and when the group has to leave it.

        Its line: `SITE_POLICY <group> <key> <value>`.

        Give one of `requirements`, `rank`, `attribute`, `wait`, `idle`, `held`, `gone`, `failures`,
        `rematch_if`, `rounds`, `clean_up`, `removal`, `old_site`.
        """
        return self._add(
            "SITE_POLICY",
            group=group,
            key={
                "REQUIREMENTS": requirements,
                "RANK": rank,
                "ATTRIBUTE": attribute,
                "WAIT": wait,
                "IDLE": idle,
                "HELD": held,
                "GONE": gone,
                "FAILURES": failures,
                "REMATCH_IF": rematch_if,
                "ROUNDS": rounds,
                "CLEAN_UP": clean_up,
                "REMOVAL": removal,
                "OLD_SITE": old_site,
            },
        )

    def choose(self: Self, extent: Literal["FROM", "UNTIL", "ONLY"], names: Names) -> Self:
        """Which nodes run: these and what depends on them, all that does not come after them, or
        these and what they need.

        Its line: `CHOOSE (FROM|UNTIL|ONLY) <node1> [<node2> ...]`.

        Which nodes run; `extent` is FROM, UNTIL or ONLY, names may be patterns.
        """
        return self._add("CHOOSE", extent=extent, names=names)

    def shared_limit(
        self: Self, limit: str, *, category: str | None = None, nodes: Names | None = None
    ) -> Self:
        """Nodes that keep to a limit which several DAGs share.

        Its line: `SHARED_LIMIT <limit> (ALL_NODES|CATEGORY <category>|NODES <node1> [<node2>
        ...])`.

        Give one of `category`, `nodes`, or none: ALL_NODES.
        """
        return self._add(
            "SHARED_LIMIT", limit=limit, members={"CATEGORY": category, "NODES": nodes}
        )

    def enough(
        self: Self,
        limit: int,
        *,
        of: str | None = None,
        category: str | None = None,
        parents: str | None = None,
        percent: bool = False,
        effect: Literal["REMOVE", "WAIT"] = "REMOVE",
    ) -> Self:
        """What is left of these nodes is not needed any more when so many of them are done.

        Its line: `ENOUGH (ALL_NODES [OF <splice>]|CATEGORY <category>|PARENTS <node>) <number>[%]
        [REMOVE|WAIT]`.

        Give one of `of`, `category`, `parents`, or none: ALL_NODES.

        Args:
            limit: how many, or percent of them.
            effect: REMOVE or WAIT.
        """
        return self._add(
            "ENOUGH",
            members={"ALL_NODES": of, "CATEGORY": category, "PARENTS": parents},
            limit=limit,
            percent=percent,
            effect=effect,
        )

    def brake(
        self: Self,
        name: str,
        limit: int,
        effect: Literal["HALT", "HOLD", "ABORT"],
        *,
        percent: bool = False,
        last: int = 0,
        alike: Literal["", "EXIT_CODE", "HOLD_REASON", "SITE"] = "",
        category: str = "",
    ) -> Self:
        """Stops the DAG when more nodes fail than so many, perhaps all in the same way.

        Its line: `BRAKE <name> <number>[%] [OF <last>] [ALIKE EXIT_CODE|HOLD_REASON|SITE] [CATEGORY
        <category>] (HALT|HOLD|ABORT)`.

        What the DAG does when more nodes fail than `limit`.

        Args:
            percent: whether `limit` is a share of the last runs, or of all nodes that it counts.
            last: how many runs that have ended are looked at; 0 for all since the start.
            alike: what the failures have in common: EXIT_CODE, HOLD_REASON (then they are jobs that
                are held) or SITE; '' for nothing.
            category: it counts nodes of this category, '' for all.
            effect: HALT, HOLD or ABORT.
        """
        return self._add(
            "BRAKE",
            name=name,
            limit=limit,
            percent=percent,
            last=last,
            alike=alike,
            category=category,
            effect=effect,
        )

    def feeder(
        self: Self,
        below: int,
        program: str,
        *,
        at_most: int = 0,
        timeout_s: int = 3600,
        retries: int = 5,
    ) -> Self:
        """A program that is run when few nodes are left, and whose output is added to the DAG.

        Its line: `FEEDER BELOW <n> [AT-MOST <nodes>] [TIMEOUT <seconds>] [RETRIES <n>] PROGRAM
        <program> [<arguments>]`.

        Args:
            below: it runs when fewer nodes than this have not ended.
            at_most: nodes that it may add in all; 0 for no limit.
            timeout_s: seconds that it may run.
            retries: how often it runs again after a failure, in a row.
            program: its file and its arguments, as they are written.
        """
        return self._add(
            "FEEDER",
            below=below,
            at_most=at_most,
            timeout_s=timeout_s,
            retries=retries,
            program=program,
        )

    def bundle(
        self: Self,
        name: str,
        *,
        size: int = 0,
        max_seconds: int = 0,
        parallel: int = 1,
        wait: int = 0,
        chains: bool = False,
        category: str | None = None,
        nodes: Names | None = None,
    ) -> Self:
        """Nodes with short jobs, many of which run in one job of HTCondor's.

        Its line: `BUNDLE <name> [SIZE <nodes>] [MAX_SECONDS <time>] [PARALLEL <tasks>] [WAIT
        <time>] [CHAINS] (ALL_NODES|CATEGORY <category>|NODES <node1> [<node2> ...])`.

        Give one of `category`, `nodes`, or none: ALL_NODES.

        Args:
            name: of the line, for people.
            size: how many nodes a bundle has at most; 0: as many as seems best.
            max_seconds: how long the nodes of a bundle are expected to take together, at most; 0:
                as long as seems best.
            parallel: how many of them run side by side.
            wait: how many seconds a node waits for others, at most.
            chains: whether nodes may run behind those that they wait for, in one bundle.
        """
        return self._add(
            "BUNDLE",
            name=name,
            size=size,
            max_seconds=max_seconds,
            parallel=parallel,
            wait=wait,
            chains=chains,
            members={"CATEGORY": category, "NODES": nodes},
        )

    def config(self: Self, file: str) -> Self:
        """A configuration file for this DAG.

        Its line: `CONFIG <file>`.
        """
        return self._add("CONFIG", file=file)

    def set_job_attr(self: Self, attribute: str) -> Self:
        """An attribute of the DAGMan job itself.

        Its line: `SET_JOB_ATTR <key> = <value>`.

        `attribute` is a raw `key = value` for DAGMan's own job ad.
        """
        return self._add("SET_JOB_ATTR", attribute=attribute)

    def env(self: Self, variables: str, *, set: bool) -> Self:
        """Environment of the DAGMan job itself.

        Its line: `ENV (SET|GET) <environment variables>`.

        DAGMan's own environment; `set` False means GET, `variables` is raw.
        """
        return self._add("ENV", set=set, variables=variables)
