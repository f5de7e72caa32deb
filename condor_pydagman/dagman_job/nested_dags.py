"""Submit files of sub-DAGs, made as `condor_submit_dag -no_submit -update_submit` makes them.

For -do_recurse, which makes those of all levels at once, and for condor_dagman, which makes that of
a SUBDAG node when it submits the node (manual: condor_submit_dag(1), -do_recurse; "A DAG Within a
DAG Is a SUBDAG").  Stock runs the command anew for each; here it is a function call.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from condor_pydagman.adapters import knobs
from condor_pydagman.adapters.files import working_directory
from condor_pydagman.dagman_job import prepare_job
from condor_pydagman.dagman_job.condor_sub import shown_arguments
from condor_pydagman.dagman_job.manager_commands import read_dag
from condor_pydagman.dagman_job.options import (
    OPTIONS,
    Options,
    Reach,
    SubmitOptions,
    deep_arguments,
)
from condor_pydagman.dagman_job.prepare_job import Output
from condor_pydagman.errors import CannotPrepare, DagFileError, FileError, PydagmanError
from condor_pydagman.language.commands import Subdag
from condor_pydagman.language.lines import in_blocks
from condor_pydagman.language.parser import CommandReader, Reading
from condor_pydagman.names import DagPaths
from condor_pydagman.printable import escaped_lines
from condor_pydagman.records import rescue

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.dagman_job.options import DagmanOptions
    from condor_pydagman.graph.model import Dag


FAILED = "Recursive submit(s) failed; exiting without attempting top-level submit"

_DEEP = [option.attribute for option in OPTIONS if option.reach is Reach.DEEP]
_WORDS = frozenset(("SUBDAG",))
_Key = tuple[str, str]  # where a DAG is run, and its file, both without symbolic links


def nested(options: Options, file: str, *, force: bool, priority: int) -> SubmitOptions:
    """The options with which a sub-DAG of a DAG with `options` is prepared."""
    deep = {name: getattr(options, name) for name in _DEEP}
    if options.notification and options.suppress_notification:
        deep["notification"] = "never"
    deep.update(force=force, update_submit=True, no_submit=True, priority=priority)
    return SubmitOptions(**deep, dag_files=(file,))


def command_line(options: SubmitOptions) -> str:
    """How stock says that it prepares the sub-DAG with these options."""
    words = ["condor_submit_dag", "-no_submit", "-update_submit"]
    words += ["-force"] if options.force else []
    words += ["-Priority", str(options.priority)] if options.priority else []
    words += deep_arguments(options._replace(force=False, update_submit=False))
    return f"Recursive submit command: <{shown_arguments([*words, *options.dag_files])}>"


def write(options: SubmitOptions, output: Output, current: Mapping[str, str]) -> None:
    """Do what `condor_submit_dag` with the options of a sub-DAG does, in the working directory.

    `current` is the environment that -import_env copies.

    Raises:
        PydagmanError: this DAG can't be prepared, or with -do_recurse one below it; what is wrong
            with those below has been told to `output`.
    """
    if options.do_recurse:
        write_all(options, output, current)
    _write_one(options, output, current)


def write_all(
    options: SubmitOptions,
    output: Output,
    current: Mapping[str, str],
    refuse: Callable[[DagPaths], None] = lambda _: None,
) -> None:
    """-do_recurse: prepare the sub-DAGs of the DAG files in `options`, the innermost first.

    What fails is told to `output`, and the others are prepared all the same.  `refuse` is called in
    a sub-DAG's directory, and raises PydagmanError if it must not be prepared.

    Raises:
        FileError: something failed.
    """
    with knobs.without_config_file():
        options = prepare_job.with_auto_rescue(options, knobs.load())
    walk = _Walk(output, current, refuse)
    if not walk.prepare_below(_Level(options, os.getcwd())):
        raise FileError(FAILED)


def error_text(error: PydagmanError) -> str:
    """What condor_submit_dag prints of an error."""
    return error.detail() if isinstance(error, DagFileError) else str(error)


def _write_one(options: SubmitOptions, output: Output, current: Mapping[str, str]) -> None:
    with knobs.without_config_file():
        prepared = prepare_job.write(options, output, current)
    output.out(prepare_job.summary(prepared.options))
    output.out(prepare_job.no_submit_lines(prepared.options))
    output.out(prepare_job.DASHES)


class _Level:
    """One run of condor_submit_dag -do_recurse, in `directory`."""

    def __init__(self, options: SubmitOptions, directory: str) -> None:
        self.options = options
        self.directory = directory
        self.keys: list[_Key] = []
        self.waiting: deque[Subdag] = deque()
        self.failed = False


class _Walk:
    """Traverses sub-DAGs of any depth, and writes the submit file of each."""

    def __init__(
        self, output: Output, current: Mapping[str, str], refuse: Callable[[DagPaths], None]
    ) -> None:
        self._output = output
        self._current = current
        self._refuse = refuse
        self._levels: list[_Level] = []
        self._ended: dict[_Key, bool] = {}  # whether it went well

    def prepare_below(self, top: _Level) -> bool:
        """Prepare everything below `top`; returns whether all went well."""
        self._enter(top)
        while True:
            level = self._levels[-1]
            if level.waiting:
                self._enter_subdag(level, level.waiting.popleft())
                continue
            self._levels.pop()
            if not self._levels:
                return not level.failed
            self._finish(level)

    def _enter(self, level: _Level) -> None:
        """Find the sub-DAGs; those before a line that is wrong are prepared."""
        self._levels.append(level)
        for file in level.options.dag_files:
            level.keys.append(_key(level.directory, file))
            try:
                with working_directory(level.directory):
                    text = read_dag(file)
            except (OSError, FileError) as error:
                self._fail(level, str(error))
                return
            found, wrong = _subdags(text, file)
            level.waiting.extend(found)
            if wrong is not None:
                self._fail(level, wrong.detail())
                return

    def _enter_subdag(self, level: _Level, subdag: Subdag) -> None:
        directory = os.path.join(level.directory, subdag.directory)
        try:
            with working_directory(directory):
                pass
        except OSError as error:
            self._fail(
                level,
                "ERROR: Failed to change to node directory: "
                f"Unable to chdir to {subdag.directory}: {error.strerror}",
            )
            return
        own = level.options
        options = nested(own, subdag.file, force=own.force, priority=own.priority)
        self._output.out(command_line(options))
        key = _key(directory, subdag.file)
        around = [key for level in self._levels for key in level.keys]
        if key in around:
            way = [file for _, file in around[around.index(key) :]]
            loop = " -> ".join([*way, key[1]])
            wrong = f"ERROR: a DAG can't contain itself as a sub-DAG: {loop}; take one of these"
            self._fail(level, f"{wrong} SUBDAG lines out", subdag.file)
        elif key not in self._ended:
            self._enter(_Level(options, directory))
        elif not self._ended[key]:
            self._fail(level, "", subdag.file)

    def _finish(self, level: _Level) -> None:
        if level.failed:
            self._output.err(FAILED)
        else:
            try:
                with working_directory(level.directory):
                    self._refuse(level.options.paths())
                    _write_one(level.options, self._output, self._current)
            except (OSError, PydagmanError) as error:
                level.failed = True
                self._output.err(
                    error_text(error) if isinstance(error, PydagmanError) else str(error)
                )
        self._ended[level.keys[0]] = not level.failed
        if level.failed:
            self._fail(self._levels[-1], "", level.options.dag_files[0])

    def _fail(self, level: _Level, reason: str, file: str = "") -> None:
        level.failed = True
        if reason:
            self._output.err(reason)
        if file:
            self._output.err(f"ERROR: condor_submit_dag -no_submit failed on DAG file {file}.")


def _subdags(text: str, file: str) -> tuple[list[Subdag], DagFileError | None]:
    """The SUBDAG commands without NOOP of a file; if one is wrong, those before it and its error.

    Other commands are looked at when the file's own submit file is made.
    """
    reading = Reading(file, words=_WORDS, max_errors=1, allow_any_node_name_characters=True)
    commands = CommandReader(in_blocks(text), reading, in_bulk=True).commands()
    found = [command for command in commands if isinstance(command, Subdag) and not command.noop]
    error = reading.errors[0] if reading.errors else None
    if error is None or error.command != "SUBDAG":
        return found, None
    return [command for command in found if command.line < error.line], error


def _key(directory: str, file: str) -> _Key:
    return os.path.realpath(directory), os.path.realpath(os.path.join(directory, file))


def prepare(
    dag: Dag,
    node: int,
    options: DagmanOptions,
    *,
    priority: int,
    retry: int,
    config: Config,
    say: Callable[[str], None],
) -> None:
    """Write `<DAG file>.condor.sub` in the node's directory, unless the configuration forbids it.

    As stock DAGMan does, by the options of our own command line that are for nested DAGs too; the
    DAG's CONFIG file does not count (manual: "A DAG Within a DAG Is a SUBDAG").  What the nested
    condor_submit_dag of stock prints goes to our standard output and error.

    Args:
        node: a node in `dag.subdags`; a FINAL node may be one.
        options: DAGMan's own command line.
        priority: the node's effective priority, 0 for none.
        retry: which try of the node it is, 0 the first: -force is for that one only.
        say: told what belongs into `.dagman.out`.

    Raises:
        CannotPrepare: the node can't be submitted.
    """
    if not config.generate_subdag_submits:
        return
    file, name = dag.subdags[node], dag.names[node]
    directory = dag.directories.get(node, "")
    wanted = nested(
        _with_rescue_number(options), file, force=options.force and not retry, priority=priority
    )
    _refuse_itself(name, directory, file, options)
    output = Output(out=_print, err=lambda text: _print(text, error=True))
    try:
        with working_directory(directory):
            say(command_line(wanted))
            write(wanted, output, dict(os.environ))
    except PydagmanError as error:
        output.err(error_text(error))
        say(f"ERROR: condor_submit_dag -no_submit failed on DAG file {file}.")
        is_transient = isinstance(error, FileError) and error.transient
        lines = (line.strip().removeprefix("ERROR: ") for line in str(error).splitlines())
        raise CannotPrepare(name, "; ".join(filter(None, lines)), transient=is_transient) from None
    except OSError as error:
        reason = f"can't work in the node's directory {directory or '.'}: {error.strerror}"
        raise CannotPrepare(name, reason) from None


def _with_rescue_number(options: DagmanOptions) -> DagmanOptions:
    """With -RescueFile a sub-DAG starts from its own rescue file of the same number, if the name
    has one."""
    number = rescue.number_of(options.rescue_file, options.paths()) if options.rescue_file else 0
    return options._replace(do_rescue_from=number) if number else options


def _refuse_itself(name: str, directory: str, file: str, options: DagmanOptions) -> None:
    """Refuse a node whose DAG file is the running DAG: preparing it would delete its files."""
    wanted = os.path.realpath(os.path.join(directory, file))
    if wanted in [os.path.realpath(own) for own in options.dag_files]:
        raise CannotPrepare(name, f"{file} is this DAG itself; name another DAG file")


def _print(text: str, error: bool = False) -> None:
    with contextlib.suppress(OSError, UnicodeError):  # a full disk, an odd file name
        print(escaped_lines(text), file=sys.stderr if error else sys.stdout, flush=True)
