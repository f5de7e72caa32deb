"""The command condor_submit_dag: prepare a DAGMan job and hand it to the schedd.

The bindings are imported late: a usage error must not wait for them, and the whole command is to
take no longer than people notice.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from condor_pydagman import __version__
from condor_pydagman.cli.options import (
    MisplacedOption,
    SubmitOptions,
    arguments,
    merge_maximums,
    parse_submit,
    submit_usage,
)
from condor_pydagman.config import Config
from condor_pydagman.errors import (
    DagFileError,
    FileError,
    PoolError,
    PydagmanError,
    UsageError,
)
from condor_pydagman.names import DagPaths
from condor_pydagman.records import condor_sub

DASHES = "-" * 71
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


def find_dagman(program: str, path: str) -> str:
    """Full path of the condor_dagman to run.

    That is the one beside `program` (the running script, links followed), else the one among this
    Python's scripts, else the first in `path` (the variable PATH).

    Raises:
        FileError: there is none.
    """
    places = [os.path.dirname(os.path.realpath(program)), os.path.dirname(sys.executable)]
    places += [place for place in path.split(os.pathsep) if place]
    for place in places:
        name = os.path.join(os.path.abspath(place), "condor_dagman")
        if os.path.isfile(name) and os.access(name, os.X_OK):
            return name
    raise FileError(
        "ERROR: Failed to locate condor_dagman executable in PATH; "
        "name it with -dagman, or repair the installation of condor_pydagman"
    )


def insert_lines(path: str) -> list[str]:
    """The lines of an -insert_sub_file, trimmed, continued lines joined.

    Raises:
        FileError: it can't be read.
    """
    from condor_pydagman.adapters.files import read_text

    try:
        text = read_text(path)
    except (OSError, FileError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"ERROR: Unable to read submit append file {path} ({reason})") from None
    lines: list[str] = []
    begun = ""
    for line in text.splitlines():
        begun += line.strip()
        if begun.endswith("\\"):
            begun = begun[:-1]
            continue
        lines.append(begun)
        begun = ""
    return [*lines, begun] if begun else lines


def environment(
    options: SubmitOptions, paths: DagPaths, fixed: Mapping[str, str], current: Mapping[str, str]
) -> dict[str, str]:
    """DAGMan's own environment: imported, then inserted variables, then those it must have.

    `fixed` are the latter, those with an empty value left out; `current` is this process's.

    Raises:
        UsageError: an -insert_env or ENV SET can't be understood.
    """
    variables = condor_sub.importable(current) if options.import_env else {}
    for raw in options.insert_env:
        try:
            variables.update(condor_sub.parse_environment(raw))
        except ValueError as error:
            raise UsageError(
                f"ERROR: Failed to add {raw} to DAGMan manager jobs environment because {error}"
            ) from None
    variables["_CONDOR_DAGMAN_LOG"] = _dagman_out(options, paths)
    variables["_CONDOR_MAX_DAGMAN_LOG"] = "0"
    variables.update((name, value) for name, value in fixed.items() if value)
    return variables


def _run(options: SubmitOptions) -> int:
    from condor_pydagman.cli.dag_files import make_way, read_dag_files

    current = dict(os.environ)  # the bindings add to it
    paths = options.paths()
    dagman = options.dagman or find_dagman(sys.argv[0], os.environ.get("PATH", ""))
    facts = read_dag_files(options)
    htcondor2 = _bindings()
    # Stock's default for -AutoRescue does not come from the DAG's own configuration file.
    auto_rescue = int(_configuration("").auto_rescue)
    config = _configuration(facts.config_file)
    _warn_of_dead_knobs()
    options = replace(
        options,
        dagman=dagman,
        auto_rescue=auto_rescue if options.auto_rescue is None else options.auto_rescue,
        insert_env=options.insert_env + facts.insert_env,
        include_env=options.include_env + facts.include_env,
    )
    options = _with_schedd_files(options, htcondor2)
    lines = _extra_lines(options, config, facts.job_attributes)
    make_way(options, paths, config)
    options = _update(options, paths)
    fixed = {
        "_CONDOR_SCHEDD_ADDRESS_FILE": options.schedd_address_file,
        "_CONDOR_SCHEDD_DAEMON_AD_FILE": options.schedd_daemon_ad_file,
        "_CONDOR_DAGMAN_CONFIG_FILE": facts.config_file,
    }
    variables = environment(options, paths, fixed, current)
    text = condor_sub.text(_description(options, config, variables, lines, htcondor2.version()))
    _write(paths.condor_sub, text)
    return _finish(options, paths, text, htcondor2)


def _bindings() -> Any:
    """Import htcondor2, which reads HTCondor's configuration and complains on stderr."""
    named = os.environ.get("CONDOR_CONFIG", "")
    import htcondor2

    if named and named.upper() != "ONLY_ENV" and not os.path.exists(named):
        raise FileError(f"ERROR: CONDOR_CONFIG names {named}, which does not exist; correct it")
    return htcondor2


def _configuration(config_file: str) -> Config:
    from condor_pydagman.adapters import knobs

    if config_file and not os.access(config_file, os.R_OK):
        raise FileError(f"ERROR: Can't read DAGMan config file: {config_file}")
    return knobs.load(config_file)


def _warn_of_dead_knobs() -> None:
    from condor_pydagman.adapters import knobs

    partial = (knobs.lookup("DAGMAN_WRITE_PARTIAL_RESCUE") or "").lower()
    if partial in ("false", "0", "no", "f"):
        print("WARNING: DAGMAN_WRITE_PARTIAL_RESCUE = False.")
        print("   The use of full Rescue DAG's is deprecated and slated")
        print("   for removal during the lifetime of V24 feature series of HTCondor.\n")


def _with_schedd_files(options: SubmitOptions, htcondor2: Any) -> SubmitOptions:
    """Take the schedd's files from the configuration, or put the given ones into it."""
    values: dict[str, Any] = {}
    for attribute in ("schedd_address_file", "schedd_daemon_ad_file"):
        given = getattr(options, attribute)
        if given:
            htcondor2.param[attribute.upper()] = given
        values[attribute] = given or str(htcondor2.param.get(attribute.upper()) or "")
    return replace(options, **values)


def _extra_lines(
    options: SubmitOptions, config: Config, job_attributes: Iterable[str]
) -> list[str]:
    """The lines that go before `queue`, in stock's order."""
    lines: list[str] = []
    given, knob = options.insert_sub_file, config.insert_sub_file
    if given and knob:
        print(
            f"Note: -insert_sub_file value ({given}) overriding "
            f"DAGMAN_INSERT_SUB_FILE setting ({knob})"
        )
    if given or knob:
        lines += insert_lines(given or knob)
    lines += [f"My.{attribute}" for attribute in job_attributes]
    lines += options.append
    for line in lines:
        if line.split(None, 1)[:1] and line.split(None, 1)[0].lower() == "queue":
            raise FileError(
                f"ERROR: {line!r} can't be added to the submit file: DAGMan must be one job."
                " Take it out of -append or -insert_sub_file"
            )
    return lines


def _update(options: SubmitOptions, paths: DagPaths) -> SubmitOptions:
    """Obey -update_submit: keep the -Max options of an existing submit file."""
    from condor_pydagman.adapters.files import read_text

    if not options.update_submit or not os.path.exists(paths.condor_sub):
        return options
    try:
        text = read_text(paths.condor_sub)
    except OSError as error:
        raise FileError(f"ERROR: can't read {paths.condor_sub}: {error.strerror}") from None
    return merge_maximums(options, condor_sub.old_arguments(text))


def _description(
    options: SubmitOptions,
    config: Config,
    variables: Mapping[str, str],
    lines: Sequence[str],
    version: str,
) -> condor_sub.CondorSub:
    return condor_sub.CondorSub(
        paths=options.paths(),
        dag_files=options.dag_files,
        executable=options.dagman,
        arguments=arguments(options, version, disable_port=config.disable_port),
        environment=variables,
        include_env=options.include_env,
        append_getenv=config.manager_job_append_getenv,
        batch_name=options.batch_name,
        notification=options.notification,
        on_exit_remove=config.on_exit_remove,
        has_port=not config.disable_port,
        lines=lines,
    )


def _dagman_out(options: SubmitOptions, paths: DagPaths) -> str:
    """Name of the debug log; stock joins the directory with one more `/`, and clients compare."""
    if options.outfile_dir:
        return f"{options.outfile_dir}/{os.path.basename(paths.primary)}.dagman.out"
    return paths.dagman_out


def _write(path: str, text: str) -> None:
    from condor_pydagman.adapters import files

    try:
        files.replace(path, [text])
    except FileError as error:
        raise FileError(f"ERROR: Unable to create submit file {path} ({error})") from None


def _finish(options: SubmitOptions, paths: DagPaths, text: str, htcondor2: Any) -> int:
    """Print what was written, submit it unless told not to, print what came of it."""
    if not options.terse:
        print(_summary(options, paths), flush=True)
    if options.no_submit:
        print("-no_submit given, not submitting DAG to HTCondor. You can do this with:")
        print(f'"condor_submit {paths.condor_sub}"')
    else:
        cluster, procs = _submit(text, paths, htcondor2)
        if options.terse:
            print(f"{cluster}.0 - {cluster}.{procs - 1}")
        else:
            print(f"Submitting job(s){'.' * procs}")
            print(f"{procs} job(s) submitted to cluster {cluster}.", flush=True)
            print(
                f"To monitor your job(s), run: condor_watch_q -clusters {cluster}",
                file=sys.stderr,
            )
    if not options.terse:
        print(DASHES)
    return 0


def _summary(options: SubmitOptions, paths: DagPaths) -> str:
    rows = (
        ("File for submitting this DAG to HTCondor", paths.condor_sub),
        ("Log of DAGMan debugging messages", _dagman_out(options, paths)),
        ("Log of HTCondor library output", paths.lib_out),
        ("Log of HTCondor library error messages", paths.lib_err),
        ("Log of the life of condor_dagman itself", paths.dagman_log),
    )
    return "\n".join([DASHES, *(f"{label:<51}: {name}" for label, name in rows), ""])


def _submit(text: str, paths: DagPaths, htcondor2: Any) -> tuple[int, int]:
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
