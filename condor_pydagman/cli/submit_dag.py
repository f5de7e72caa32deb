"""The command condor_submit_dag: prepare a DAGMan job and hand it to the schedd.

The bindings are imported late: a usage error must not wait for them, and the whole command is to
take no longer than people notice.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from condor_pydagman import __version__
from condor_pydagman.cli.options import MisplacedOption, SubmitOptions, parse_submit, submit_usage
from condor_pydagman.errors import DagFileError, PoolError, PydagmanError, UsageError
from condor_pydagman.names import DagPaths

# JobSubmitMethod of condor_submit, which is what stock condor_submit_dag runs.
SUBMIT_METHOD = 0
# What the bindings put before the message that condor_submit prints.
_BINDINGS_PREFIX = re.compile(r"^Failed to create job ad, errmsg=(Submit:-?[0-9]+:)?")


def main(argv: Sequence[str] | None = None) -> int:
    """Run condor_submit_dag; returns its exit code: 0, or 1 for any error.

    `argv` are the arguments without the program's name, None for those of this process.
    """
    _print_any_file_name()
    try:
        options = parse_submit(sys.argv[1:] if argv is None else argv)
    except UsageError as error:
        print(error, file=sys.stdout if isinstance(error, MisplacedOption) else sys.stderr)
        print(submit_usage(), end="")
        return 1
    if options.show == "help":
        print(submit_usage(), end="")
        return 0
    try:
        return _show_version() if options.show else _run(options)
    except DagFileError as error:
        print(error.detail(), file=sys.stderr)
    except PydagmanError as error:
        print(error, file=sys.stderr)
    return 1


def _run(options: SubmitOptions) -> int:
    from condor_pydagman.cli import manager_job
    from condor_pydagman.cli.dag_files import Voice

    current = dict(os.environ)  # the bindings add to it
    voice = Voice(out=print, err=lambda text: print(text, file=sys.stderr))
    if options.do_recurse:
        from condor_pydagman.cli import subdags

        subdags.write_all(options, voice, current)
    prepared = manager_job.write(options, voice, current)
    if not options.terse:
        print(manager_job.summary(prepared.options), flush=True)
    if options.no_submit:
        print(manager_job.no_submit_lines(options))
    else:
        _submit(prepared.text, options, manager_job.bindings())
    if not options.terse:
        print(manager_job.DASHES)
    return 0


def _submit(text: str, options: SubmitOptions, htcondor2: Any) -> None:
    cluster, procs = _queue(text, options.paths(), htcondor2)
    if options.terse:
        print(f"{cluster}.0 - {cluster}.{procs - 1}")
    else:
        print(f"Submitting job(s){'.' * procs}")
        print(f"{procs} job(s) submitted to cluster {cluster}.", flush=True)
        print(f"To monitor your job(s), run: condor_watch_q -clusters {cluster}", file=sys.stderr)


def _queue(text: str, paths: DagPaths, htcondor2: Any) -> tuple[int, int]:
    """Submit the DAGMan job; its cluster, and the number of procs.

    Raises:
        PoolError: the submit file, which stays, could not be submitted.
    """
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        description = _parsed(text, paths, htcondor2)
        schedd = _schedd(paths, htcondor2)
        try:
            description.issue_credentials()
            result = schedd.submit(description)
        except _refusals(htcondor2) as error:
            reason = _BINDINGS_PREFIX.sub("", str(error)).strip()
            raise _failed(reason, "", transient=False) from None
    for warning in caught:
        print(f"WARNING: {warning.message}", file=sys.stderr)
    return int(result.cluster()), int(result.num_procs())


def _parsed(text: str, paths: DagPaths, htcondor2: Any) -> Any:
    try:
        description = htcondor2.Submit(text)
        description.setSubmitMethod(SUBMIT_METHOD, True)
        description["My.JobSubmitFile"] = '"' + paths.condor_sub.replace('"', '\\"') + '"'
    except _refusals(htcondor2) as error:
        hint = (
            f"Look at {paths.condor_sub}, at the lines that come from -append, -insert_sub_file "
            "and SET_JOB_ATTR"
        )
        reason = f"Failed to parse command file {paths.condor_sub}: {error}"
        raise _failed(reason, hint, transient=False) from None
    return description


def _schedd(paths: DagPaths, htcondor2: Any) -> Any:
    try:
        return htcondor2.Schedd()
    except _refusals(htcondor2) as error:
        hint = (
            "Check that HTCondor runs on this machine (condor_status -schedd) and that "
            "CONDOR_CONFIG,\n       or -schedd-address-file and -schedd-daemon-ad-file, are those "
            f"of its schedd.\n       Nothing is lost: condor_submit {paths.condor_sub} submits "
            "the DAG later"
        )
        reason = f"Can't find address of local schedd ({error})"
        raise _failed(reason, hint, transient=True) from None


def _refusals(htcondor2: Any) -> tuple[type[Exception], ...]:
    """What the bindings raise when the pool, or the submit language, says no."""
    errors: Any = (htcondor2.HTCondorException, ValueError, TypeError, RuntimeError, OSError)
    return tuple(errors)


def _failed(reason: str, hint: str, *, transient: bool) -> PoolError:
    lines = [f"ERROR: {reason}"] + ([f"       {hint}"] if hint else [])
    return PoolError("\n".join([*lines, "ERROR: condor_submit failed; aborting."]),
                     transient=transient)  # fmt: skip


def _show_version() -> int:
    import htcondor2

    print(htcondor2.version())
    print(htcondor2.platform())
    print(f"condor_pydagman {__version__}")
    return 0


def _print_any_file_name() -> None:
    """A file name need not be valid text; print its bytes instead of failing over it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")
