"""The command condor_submit_dag: prepare a DAGMan job and hand it to the schedd.

The bindings are imported late: a usage error must not wait for them, and the command is to be fast.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from condor_pydagman import __version__
from condor_pydagman.cli.usage import usage
from condor_pydagman.dagman_job.options import (
    MisplacedOption,
    OldArguments,
    SubmitOptions,
    UnknownOption,
    parse_submit,
    submit_usage,
)
from condor_pydagman.errors import (
    DagFileError,
    PydagmanError,
    UsageError,
    bindings_missing,
    is_about_bindings,
)
from condor_pydagman.printable import escaped_lines

if TYPE_CHECKING:
    from condor_pydagman.dagman_job.prepare_job import Prepared
    from condor_pydagman.dagman_job.submit_to_schedd import PreparedSubmit


def main(argv: Sequence[str] | None = None) -> int:
    """Run condor_submit_dag; returns its exit code: 0, or 1 for any error.

    `argv` are the arguments without the program's name, None for those of this process.
    """
    _print_any_file_name()
    words = sys.argv[1:] if argv is None else argv
    try:
        options = parse_submit(words)
    except UsageError as error:
        (_say if isinstance(error, MisplacedOption) else _warn)(str(error))
        if isinstance(error, UnknownOption) and error.near:
            _warn(f"       Did you mean {error.near}?")
        _say(usage(submit_usage(), "condor_submit_dag", given=bool(words)))
        return 1
    if options.show == "help":
        _say(submit_usage().rstrip("\n"))
        return 0
    try:
        return _show_version() if options.show else _run(options)
    except DagFileError as error:
        _warn(_all_errors(options, error))
    except OldArguments as error:
        _warn(str(error))
        _say(usage(submit_usage(), "condor_submit_dag", given=True))
    except PydagmanError as error:
        _warn(str(error))
    except ImportError as error:
        if not is_about_bindings(error):
            raise
        _warn(f"ERROR: {bindings_missing(error)}")
    return 1


def run_and_leave() -> NoReturn:
    """The command.  It waits for nothing that Python does at its end, which takes it as long as the
    schedd takes to accept a job."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()  # it ends before there is any garbage to speak of
    code = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    os._exit(code)


def _run(options: SubmitOptions) -> int:
    from condor_pydagman.dagman_job import prepare_job

    prepared, prepared_submits = _prepare(options, _say)
    if not options.terse:
        _say(prepare_job.summary(prepared.options), flush=True)
    if options.no_submit:
        _say(prepare_job.no_submit_lines(options))
    else:
        _submit(prepared, prepared_submits[0])
    if not options.terse:
        _say(prepare_job.DASHES)
    return 0


def submit_silently(options: SubmitOptions, more: Any = None) -> int:
    """Check a DAG and submit it as the command does, but print notes and warnings only, to the
    error output; returns the cluster of DAGMan's job.

    Args:
        more: as of `preflight.check_meanwhile`.

    Raises:
        PydagmanError: nothing was submitted; the message says why.
    """
    from condor_pydagman.dagman_job import prepare_job, submit_to_schedd

    try:
        prepared, (prepared_submit,) = _prepare(options, _warn, more)
    except DagFileError as error:
        raise PydagmanError(_all_errors(options, error)) from None
    bindings = prepare_job.bindings()
    job = submit_to_schedd.submit(prepared_submit, options.paths(), bindings)
    for text in submit_to_schedd.remarks(prepared, prepared_submit, job):
        _warn(text)
    return job.cluster


def _prepare(
    options: SubmitOptions, say: Callable[[str], None], more: Any = None
) -> tuple[Prepared, list[PreparedSubmit]]:
    """Write the submit file of DAGMan's job, and prepare its submission if that is wanted.

    Args:
        say: prints notes that are no warnings.
        more: as of `submit_silently`.
    """
    from condor_pydagman.dagman_job import prepare_job
    from condor_pydagman.dagman_job.prepare_job import Output, refuse_running

    refuse_running(options.paths())
    _note_options_without_effect(options)
    _drop_locale_of_python()
    current = dict(os.environ)  # the bindings add to it
    output = Output(out=say, err=_warn)
    if options.do_recurse:
        from condor_pydagman.dagman_job import nested_dags

        nested_dags.write_all(options, output, current, refuse_running)
    prepared_submits: list[PreparedSubmit] = []

    def check(prepared: Prepared) -> None:
        check_meanwhile = _of_preflight("check_meanwhile")
        with (
            check_meanwhile(prepared, _warn, more) if check_meanwhile else contextlib.nullcontext()
        ):
            if not options.no_submit:
                from condor_pydagman.dagman_job import submit_to_schedd

                paths, remote = options.paths(), options.remote
                bindings = prepare_job.bindings()
                prepared_submits.append(
                    submit_to_schedd.prepare_submit(prepared.text, paths, remote, bindings)
                )

    return prepare_job.write(options, output, current, check), prepared_submits


def _all_errors(options: SubmitOptions, first: DagFileError) -> str:
    all_errors = _of_preflight("all_errors")
    return all_errors(options, first) if all_errors else first.detail()


def _of_preflight(name: str) -> Any:
    """A function of the check before a submission, which is the checker's; None if that is not
    installed."""
    try:
        from condor_pydagman.lint import preflight
    except ModuleNotFoundError as error:
        if error.name in ("condor_pydagman.lint", "condor_pydagman.lint.preflight"):
            return None
        raise
    return getattr(preflight, name)


def _note_options_without_effect(options: SubmitOptions) -> None:
    """Print a note on options that suggest a dry run: the stock command runs the DAG silently."""
    wanted = {
        "-DryRun": options.dry_run and "see what is wrong with it: condor_dag_checker -lint",
        "-Dot": options.dot and "draw it: condor_pydagman draw",
    }
    for name, instead in wanted.items():
        if instead and not options.no_submit:
            _warn(
                f"Note: {name} has no effect on condor_submit_dag: the DAG is submitted, and its"
                f" jobs run.\n      To run nothing, but {instead} {' '.join(options.dag_files)}"
            )


def _submit(prepared: Prepared, prepared_submit: PreparedSubmit) -> None:
    from condor_pydagman.dagman_job import prepare_job, submit_to_schedd

    options = prepared.options
    job = submit_to_schedd.submit(prepared_submit, options.paths(), prepare_job.bindings())
    if options.terse:
        _say(f"{job.cluster}.0 - {job.cluster}.{job.procs - 1}", flush=True)
    else:
        _say(f"Submitting job(s){'.' * job.procs}")
        _say(f"{job.procs} job(s) submitted to cluster {job.cluster}.", flush=True)
        watch = f"condor_watch_q -clusters {job.cluster}"
        _warn(f"To monitor your job(s), run: {watch}")
    for text in submit_to_schedd.remarks(prepared, prepared_submit, job):
        _warn(text)


def _say(text: str, *, flush: bool = False) -> None:
    _print(text, sys.stdout, flush=flush)


def _warn(text: str) -> None:
    _print(text, sys.stderr)


def _print(text: str, stream: TextIO | None, *, flush: bool = False) -> None:
    """Print; as with stock, a full disk or a reader that has gone away stops nothing."""
    if stream is not None:  # closed by the caller
        with contextlib.suppress(OSError, ValueError):
            print(escaped_lines(text), file=stream, flush=flush)


def _drop_locale_of_python() -> None:
    """Where the locale is C, Python sets LC_CTYPE for itself; DAGMan must not inherit that."""
    if os.environ.get("LC_CTYPE") in ("C.UTF-8", "C.utf8", "UTF-8"):
        try:
            with open("/proc/self/environ", "rb") as file:
                given = file.read().split(b"\0")
        except OSError:
            return
        if not any(entry.startswith(b"LC_CTYPE=") for entry in given):
            del os.environ["LC_CTYPE"]


def _show_version() -> int:
    import htcondor2

    _say(f"{htcondor2.version()}\n{htcondor2.platform()}\ncondor_pydagman {__version__}")
    return 0


def _print_any_file_name() -> None:
    """A file name need not be valid text; print its bytes instead of failing over it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")
