"""Submitting a DAG, as condor_submit_dag does.

htcondor2 is imported when a DAG is submitted, not when this module is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from condor_pydagman.api.dag_errors import DagError
from condor_pydagman.api.dag_reading import StrPath, check_dag, names_of
from condor_pydagman.dagman_job import prepare_job, submit_to_schedd
from condor_pydagman.dagman_job.options import (
    OPTIONS,
    Option,
    SubmitOptions,
    Takes,
    nearest,
    parse_submit,
)
from condor_pydagman.dagman_job.prepare_job import (
    EarlierRunError,
    Output,
    Prepared,
    refuse_running,
)
from condor_pydagman.dagman_job.submit_to_schedd import PreparedSubmit
from condor_pydagman.errors import DagFileError, FileError, PoolError, UsageError
from condor_pydagman.lint import preflight
from condor_pydagman.monitor.found_dag import queued_job, waiting_job
from condor_pydagman.names import DagPaths

if TYPE_CHECKING:
    from condor_pydagman.api.dag_run import DagRun

OptionValue = Union[bool, int, StrPath, Sequence[str], None]

_FORCE = """\
The DAG has run before; nothing has been submitted.
To run it from the beginning: force=True. To keep these files: update_submit=True."""

# Of the command line only: what is printed, and what has no effect on a submission.
_COMMAND_LINE_ONLY = (
    "dag_files",
    "dot",
    "dry_run",
    "schedd_address_file",
    "schedd_daemon_ad_file",
    "terse",
)
_OPTIONS_BY_NAME: dict[str, list[Option]] = {}
for _option in OPTIONS:
    if _option.attribute not in (*_COMMAND_LINE_ONLY, "verbose"):
        _OPTIONS_BY_NAME.setdefault(_option.attribute, []).append(_option)


@dataclass(frozen=True)
class SubmittedDag:
    """A DAG that has been handed to a schedd.

    Attributes:
        cluster: of DAGMan's job, as `dag_status` and `condor_rm` take it; None with no_submit.
        submit_file: the `.condor.sub` that was written.
        messages: the warnings of condor_submit_dag, and which rescue file the DAG
            begins with.
    """

    cluster: int | None
    submit_file: str
    messages: tuple[str, ...] = ()

    @property
    def run(self) -> DagRun:
        """The run of this job, to be waited for, followed and steered.

        Raises:
            UsageError: nothing was submitted (no_submit).
            PoolError: the schedd does not answer.
        """
        if self.cluster is None:
            raise UsageError("the DAG was not submitted (no_submit): there is no run of it")
        from condor_pydagman.api.dag_run import DagRun  # late: it loads what reads logs

        return DagRun(self.cluster, messages=self.messages)


def submit_dag(*paths: StrPath, **options: OptionValue) -> SubmittedDag:
    """Write the submit file of DAGMan's job for DAG files, and submit it.

    As with condor_submit_dag, file names are relative to the working directory, the DAG is checked
    first, and it is refused while there are files of an earlier run, unless `force` or
    `update_submit` is given.  The process may fork, to read the CONFIG file and to check the DAG.

    Args:
        paths: the DAG files, at least one.
        options: those of condor_submit_dag(1), in lower case with `_` for `-`: `max_jobs=10`,
            `force=True`, `batch_name="night"`, `append=["+Group = 1"]`.  One that is None is not
            given; the opposite of a flag is False: `check_dag=False`, `always_run_post=False`.

    Raises:
        TypeError: there is no such option, or its value is of the wrong type.
        DagError: DAGMan would refuse the DAG; nothing has been changed or submitted.
        UsageError: options contradict each other, or a value is wrong.
        ConfigError: a configuration value, or the DAG's CONFIG file, is wrong.
        FileError: DAGMan runs the DAG already, or its job is in the queue; files are in the way,
            or one can't be written.
        PoolError: the schedd can't be reached or refuses the job; the submit file stays.
    """
    parsed = options_of_free_dag(*paths, **options)
    current = dict(os.environ)  # a copy: importing the bindings adds variables
    prepare_job.bindings()
    from condor_pydagman.adapters import knobs

    try:
        with knobs.without_config_file():
            return _submit(parsed, current)
    except DagFileError as error:  # the file was read for its options, before `check`
        raise _all_errors(parsed, error.detail()) from None
    except EarlierRunError as error:
        raise FileError(f"{error.found}{_FORCE}") from None


def options_of_free_dag(*paths: StrPath, **options: OptionValue) -> SubmitOptions:
    """The options of a submission of a DAG which DAGMan does not run, and is not about to.

    Args:
        paths, options: as of `submit_dag`.

    Raises:
        TypeError, UsageError, FileError: as of `submit_dag`.
    """
    names = [f"./{name}" if name.startswith("-") else name for name in names_of(paths)]
    words = [word for name, value in options.items() for word in _arguments(name, value)]
    parsed = parse_submit([*words, *names])
    refuse_running(parsed.paths())
    if not parsed.no_submit:
        _refuse_waiting(parsed.paths())
    return parsed


def _refuse_waiting(paths: DagPaths) -> None:
    """Two jobs would run the DAG at once; in a notebook, a cell is soon run twice.

    The schedd is asked only if there may be one: one that has not begun, or, by its lock file, one
    that is held or starts again.
    """
    find = queued_job if os.path.exists(paths.lock) else waiting_job
    try:
        job = find(paths).get("ClusterId")
    except PoolError:
        return  # so it can't be submitted either, which tells why
    if job is not None:
        raise FileError(
            f"{paths.primary} has been submitted already, as job {job}, which is in the queue:"
            f" nothing has been changed or submitted. DagRun({paths.primary!r}) is its run; to"
            " submit it again, call remove() of that, and wait() for its end"
        )


def _submit(options: SubmitOptions, current: Mapping[str, str]) -> SubmittedDag:
    messages: list[str] = []
    output = Output(messages.append, messages.append)
    prepared_submits: list[PreparedSubmit] = []

    def check(prepared: Prepared) -> None:
        try:
            with preflight.check_meanwhile(prepared, messages.append):
                if not options.no_submit:
                    how = prepared.options.paths(), options.remote, prepare_job.bindings()
                    prepared_submits.append(submit_to_schedd.prepare_submit(prepared.text, *how))
        except FileError as error:
            raise _all_errors(options, str(error)) from None

    if options.do_recurse:
        from condor_pydagman.dagman_job import nested_dags

        nested_dags.write_all(options, output, current, refuse_running)
    prepared = prepare_job.write(options, output, current, check)
    submit_file = options.paths().condor_sub
    if options.no_submit:
        return SubmittedDag(None, submit_file, tuple(messages))
    bindings = prepare_job.bindings()
    job = submit_to_schedd.submit(prepared_submits[0], options.paths(), bindings)
    messages += submit_to_schedd.remarks(prepared, prepared_submits[0], job)
    return SubmittedDag(job.cluster, submit_file, tuple(messages))


def _all_errors(options: SubmitOptions, text: str) -> DagError | FileError:
    """DagError with all that `check_dag` finds; FileError(text) if it finds nothing."""
    found = check_dag(*options.dag_files, use_dag_dir=options.use_dag_dir)
    return DagError(found, text=text) if found else FileError(text)


def _arguments(name: str, value: OptionValue) -> list[str]:
    """The arguments of a command line for one option."""
    rows = _OPTIONS_BY_NAME.get(name)
    if rows is None:
        near = nearest(name, _OPTIONS_BY_NAME)
        raise TypeError(
            f"submit_dag() has no option {name!r}" + (f"; did you mean {near!r}?" if near else "")
        )
    if value is None:
        return []
    option = rows[0]
    if option.takes is Takes.NOTHING:
        if not isinstance(value, bool):
            raise _wrong_type(name, "True or False")
        return [f"-{row.name}" for row in rows if row.value is value]
    if option.takes is Takes.LIST:
        if isinstance(value, (int, os.PathLike)):
            raise _wrong_type(name, "a text or several")
        texts = [value] if isinstance(value, str) else value
        return [word for text in texts for word in (f"-{option.name}", text)]
    if isinstance(value, bool) or not isinstance(value, (int, str, os.PathLike)):
        raise _wrong_type(name, "a number" if option.takes is Takes.INTEGER else "a text")
    return [f"-{option.name}", os.fspath(value) if not isinstance(value, int) else str(value)]


def _wrong_type(name: str, wanted: str) -> TypeError:
    return TypeError(f"option {name!r} of submit_dag() must be {wanted}")
