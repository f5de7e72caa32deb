"""Submits a `.condor.sub` to a schedd, and words errors as condor_submit does.

Stock condor_submit_dag runs condor_submit for it; here the bindings do the same work.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters.files import named_cluster
from condor_pydagman.errors import PoolError
from condor_pydagman.feature_table import part, rules_of
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths

if TYPE_CHECKING:
    from condor_pydagman.dagman_job.prepare_job import Prepared

# JobSubmitMethod of condor_submit, which is what stock condor_submit_dag runs.
SUBMIT_METHOD = 0
_READER = "condor_submit"
_HELD = 5  # JobStatus
# What the bindings put before the message that condor_submit prints, and how they word the rest.
_BINDINGS_PREFIX = re.compile(r"^Failed to create job ad, errmsg=(Submit:-?[0-9]+:)?")
_CODE = re.compile(r"^Submit:0:", re.MULTILINE)
_NO_CONNECTION = "Failed to connect to schedd, errmsg="
_NO_COMMIT = re.compile(r"^Unable to commit transaction, (SCHEDD:[0-9]+:)?")


class Job(NamedTuple):
    """A DAGMan job that the schedd has taken: its cluster, how many procs, what was warned of."""

    cluster: int
    procs: int
    warnings: Sequence[str] = ()


class PreparedSubmit(NamedTuple):
    """A job that can be submitted: the bindings' description of it, and to whom."""

    description: Any
    text: str  # what the description was read from
    schedd: Any
    # hand the schedd a copy of the job's files, condor_dagman among them; it keeps them, and what
    # the job writes, in its spool directory (condor_submit(1), -remote)
    spool: bool


def prepare_submit(text: str, paths: DagPaths, remote: str, htcondor2: Any) -> PreparedSubmit:
    """Read a submit file's text and look for the schedd, `remote` or the local one; nothing is
    changed yet.

    Raises:
        PoolError: something is wrong with either.
    """
    _refuse_other_than_utf8(text)
    description = _parsed(text, paths)
    _refuse_unusable_executable(description, spool=bool(remote))
    schedd = _remote_schedd(remote, htcondor2) if remote else _local_schedd(htcondor2)
    if not remote:
        _refuse_waiting(schedd, paths, htcondor2)
    return PreparedSubmit(description, text, schedd, bool(remote))


def _local_schedd(htcondor2: Any) -> Any:
    try:
        return htcondor2.Schedd()
    except _refusals(htcondor2) as error:
        hint = (
            "Check that HTCondor runs on this machine (condor_status -schedd) and that "
            "CONDOR_CONFIG,\n       or -schedd-address-file and -schedd-daemon-ad-file, are those "
            "of its schedd. If it is a personal HTCondor:\n       condor_pydagman pool run "
            "condor_submit_dag ...\n       Nothing has been changed"
        )
        reason = f"Can't find address of local schedd ({_said(error)})"
        raise _failed(reason, hint, transient=True) from None


def _refuse_waiting(schedd: Any, paths: DagPaths, htcondor2: Any) -> None:
    """Refuse a DAG whose DAGMan job is on hold, or waits to be started, perhaps again.

    The new job would run the DAG to its end, and the old one would run it again when it starts.
    """
    begun, is_prepared = named_cluster(paths.lock), _is_prepared(paths)
    if not begun and not is_prepared:
        return
    import classad2

    there = f"UserLog == {classad2.quote(os.path.abspath(paths.dagman_log))}"
    there = f"JobUniverse == 7 && {there} && JobStatus != 3 && JobStatus != 4"
    if not is_prepared:  # one job costs the schedd less than a look at all
        there = f"ClusterId == {begun} && {there}"
    try:
        ads = schedd.query(there, ["ClusterId", "JobStatus"], limit=1)
    except _refusals(htcondor2):
        return
    for ad in ads:
        cluster = ad["ClusterId"]
        state = f"is in the queue and will {'continue' if cluster == begun else 'start'} it."
        if ad.get("JobStatus") == _HELD:
            state = f"is on hold. To continue where it stopped: `condor_release {cluster}`."
        raise PoolError(
            f"ERROR: Job {cluster}, which runs {paths.primary}, {state}\n"
            "       Nothing has been changed or submitted. To submit the DAG again, remove that\n"
            f"       job first: `condor_rm {cluster}`.",
            transient=False,
        )


def _is_prepared(paths: DagPaths) -> bool:
    """Whether a run was prepared after DAGMan has written last: its job may never have begun."""
    with contextlib.suppress(OSError):
        out = os.stat(paths.dagman_out).st_mtime if os.path.exists(paths.dagman_out) else 0.0
        return os.stat(paths.condor_sub).st_mtime > out
    return False


def submit(prepared: PreparedSubmit, paths: DagPaths, htcondor2: Any) -> Job:
    """Submit the DAGMan job that the submit file of `paths` describes.

    Raises:
        PoolError: it could not be submitted; the file stays.
    """
    import warnings

    from condor_pydagman.adapters.descriptions import submit

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            prepared.description.issue_credentials()
            schedd, description = prepared.schedd, prepared.description
            result = submit(schedd, description, prepared.text, spool=prepared.spool)
        except _refusals(htcondor2) as error:
            raise _refused(_said(error), paths) from None
        if prepared.spool:
            _spool(prepared.schedd, result, htcondor2)
    said = [f"WARNING: {warning.message}" for warning in caught]
    if prepared.spool:
        said += _not_copied(prepared.description, paths.primary)
    return Job(int(result.cluster()), int(result.num_procs()), said)


def _not_copied(description: Any, file: str) -> list[str]:
    """The warning about a DAG file that DAGMan won't find in its spool directory."""
    key = "transfer_input_files"
    copied = re.split(r"[\s,]+", description.expand(key) if key in description else "")
    if os.path.isabs(file) or os.path.normpath(file) in map(os.path.normpath, copied):
        return []
    return [
        f"WARNING: the schedd has no copy of {file}, so DAGMan will not find it. Submit with"
        f"\n         -append 'transfer_input_files = {file}, ...', and what else the DAG needs"
    ]


def remarks(prepared: Prepared, submitted: PreparedSubmit, job: Job) -> list[str]:
    """What is to be told of a DAGMan job that the schedd has taken: what is odd about it, and what
    the administrator's rules make of its DAG."""
    told = [*job.warnings, *unused_lines(prepared.added)]
    if prepared.options.remote:  # whose rules are not known here
        return told
    for rules in rules_of(prepared.admin):
        from condor_pydagman.adapters.descriptions import accounting_group

        told += rules.foretell(prepared.admin, accounting_group(submitted.description))
    return told


def unused_lines(lines: Sequence[str]) -> list[str]:
    """The warnings of condor_submit about unused lines: most are typing errors."""
    if not lines:
        return []
    from condor_pydagman.language import submit_warnings as rules

    parts = [line.partition("=") for line in lines]
    values = {name.strip(): value.strip() for name, equals, value in parts if equals}
    names = [name for name in values if name.isidentifier()]
    found = rules.unused_lines({**values, "universe": "scheduler"}, text="\n".join(lines))
    unused = {one.name: one for one in found}
    return [f"WARNING: {unused[name].message(_READER)}" for name in names if name in unused]


def _remote_schedd(name: str, htcondor2: Any) -> Any:
    names = [name]
    if "@" not in name and "." not in name:
        import socket

        try:
            full = socket.getaddrinfo(name, None, flags=socket.AI_CANONNAME)[0][3]
        except (OSError, UnicodeError):
            raise _failed("", f"condor_submit: unknown host {name}", transient=False) from None
        names += [full] if full and full != name else []
    reason = "The collector does not know it."
    for known_as in names:
        try:
            location = htcondor2.Collector().locate(htcondor2.DaemonType.Schedd, known_as)
            if location is not None:  # which would mean the local schedd
                return htcondor2.Schedd(location)
        except _refusals(htcondor2) as error:
            reason = _said(error)
    hint = f"{reason}\n       condor_status -schedd lists those of this pool; nothing was changed"
    raise _failed(f"Can't find address of schedd {name}", hint, transient=True)


def _refuse_other_than_utf8(text: str) -> None:
    """The bindings read no other names, those of the nodes log and of its directory among them."""
    for line in (os.getcwd(), *text.splitlines()):
        try:
            line.encode()
        except UnicodeEncodeError:
            reason = f"HTCondor's bindings can't work with what is not UTF-8: {line}"
            raise _failed(reason, "Rename the file or the directory", transient=False) from None


def _parsed(text: str, paths: DagPaths) -> Any:
    from condor_pydagman.adapters.descriptions import Unreadable, parse

    try:
        description = parse(text)
        description.setSubmitMethod(SUBMIT_METHOD, True)
        description["My.JobSubmitFile"] = '"' + paths.condor_sub.replace('"', '\\"') + '"'
    except PoolError as error:
        hint = (
            f"Look at {paths.condor_sub}, at the lines that come from -append, -insert_sub_file "
            "and SET_JOB_ATTR"
        )
        tells = part("common", "adapters.submit_errors")
        wrong = tells.first_unreadable(text) if tells and isinstance(error, Unreadable) else None
        if wrong is None:
            reason = f"Failed to parse command file {paths.condor_sub}: {error.reason}"
        else:
            number, line, _ = wrong
            reason = f"on Line {number} of {paths.condor_sub}: {line}\n\n"
            reason += f"ERROR: Failed to parse command file (line {number})."
        raise _failed(reason, hint, transient=False) from None
    return description


def _refuse_unusable_executable(description: Any, *, spool: bool) -> None:
    """Refuse an executable that can't be read, as condor_submit does; the bindings do not check."""
    path = str(description.expand("executable"))
    if "initialdir" in description:
        path = os.path.join(str(description.expand("initialdir")), path)
    wrong = _why_it_cannot_run(path, spool)
    if wrong:
        hint = (
            "It is the condor_dagman to run, or what -append or -insert_sub_file put in its "
            "place.\n       Name another with -dagman, or repair the installation"
        )
        raise _failed(f"Can't access executable file {path}: {wrong}", hint, transient=False)


def _why_it_cannot_run(path: str, spool: bool) -> str:
    """What is wrong with an executable, '' for nothing; a spooled one runs somewhere else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            line = file.readline(1024)
    except OSError as error:
        return error.strerror or str(error)
    if spool:
        return ""
    if not os.access(path, os.X_OK):
        return "it is not executable"
    interpreter = os.fsdecode(line[2:].split(None, 1)[0]) if line[2:].strip() else ""
    if line.startswith(b"#!") and interpreter and not os.path.exists(interpreter):
        return f"what it is to be run by, {interpreter}, is not there; was it moved?"
    return ""


def _spool(schedd: Any, result: Any, htcondor2: Any) -> None:
    try:
        schedd.spool(result)
    except _refusals(htcondor2) as error:
        reason = f"Failed to spool job files. {_said(error).strip()}"
        hint = f"Job {result.cluster()} waits for them in the queue, held; remove it with condor_rm"
        raise _failed(reason, hint, transient=True) from None


def _refusals(htcondor2: Any) -> tuple[type[Exception], ...]:
    """What the bindings raise when the pool or the submit language refuses."""
    from condor_pydagman.adapters.descriptions import BINDINGS

    return BINDINGS


def _said(error: Exception) -> str:
    """The bindings' words; of an exception without any, what it is and what to do."""
    from condor_pydagman.adapters.descriptions import FAULTS, reason_of

    return reason_of(error) if isinstance(error, FAULTS) else str(error)


def _refused(said: str, paths: DagPaths) -> PoolError:
    """The error for what the bindings said when they were to submit."""
    from condor_pydagman.adapters.bindings import limit_in
    from condor_pydagman.adapters.descriptions import OLDER_DAEMONS, refuses_older_daemons

    later = (
        f"Nothing is lost: condor_submit {paths.condor_sub} submits the DAG later, as does "
        "condor_submit_dag -force"
    )
    knob = limit_in(said)
    if knob:
        reason = f"The schedd's queue is full: {knob} allows you no more jobs"
        return _failed(reason, f"Some must leave it first. {later}", transient=True)
    if said.startswith(_NO_CONNECTION):
        reason = "Failed to connect to local queue manager\n" + said[len(_NO_CONNECTION) :].strip()
        why = "The schedd does not let you in; `condor_ping -type schedd WRITE` tells more."
        if "CEDAR:6001" in said:
            why = "The schedd does not answer; is it running?"
        elif refuses_older_daemons(said):
            why = f"{OLDER_DAEMONS[:1].upper()}{OLDER_DAEMONS[1:]}."
        return _failed(reason, f"{why}\n       {later}", transient=True)
    commit = _NO_COMMIT.match(said)
    if commit:
        reason = "Failed to commit job submission into the queue.\nERROR: " + said[commit.end() :]
        return _failed(reason.strip(), "", transient=False)
    reason = _CODE.sub("WARNING: ", _BINDINGS_PREFIX.sub("", said)).strip()
    return _failed(reason, "", transient=False)


def _failed(reason: str, hint: str, *, transient: bool) -> PoolError:
    lines = [f"ERROR: {reason}"] if reason else []
    lines += [f"       {hint}" if reason else hint] if hint else []
    lines.append("ERROR: condor_submit failed; aborting.")
    return PoolError("\n".join(lines), transient=transient)
