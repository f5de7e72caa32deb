"""The DAGMan job of a DAG: from the options of condor_submit_dag to the `.condor.sub` they make.

One function for all who need one: the command condor_submit_dag, its -do_recurse, and condor_dagman
when it submits a sub-DAG.  Nothing is printed here: what stock prints goes to an `Output`.

The files of earlier runs that are in the way are dealt with first (manual, "Rescue DAGs", and what
stock condor_submit_dag prints).

The bindings are imported late: an error in the DAG files must not wait for them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from condor_pydagman.adapters.files import living_holder, rename_rescue_file, rescue_numbers
from condor_pydagman.adapters.installation import packaged_commands
from condor_pydagman.config import Config
from condor_pydagman.dagman_job import condor_sub
from condor_pydagman.dagman_job.manager_commands import read_dag_files
from condor_pydagman.dagman_job.options import SubmitOptions, arguments, merge_maximums
from condor_pydagman.errors import FileError, UsageError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths

DASHES = "-" * 71
MAX_INSERT_BYTES = 1 << 24  # bytes of an -insert_sub_file
_VALGRIND = ("--tool=memcheck", "--leak-check=yes", "--show-reachable=yes")


class Prepared(NamedTuple):
    """A `.condor.sub` that is written, or will be."""

    options: SubmitOptions  # those it is made of, defaults filled in
    text: str  # what it holds
    added: Sequence[str]  # the lines among it that the user's options, files and DAG commands add
    config: Config  # the knobs it is made by
    admin: Config  # those of the administrator, without the DAG's CONFIG file
    arguments: Sequence[str]  # those of condor_dagman
    environment: Mapping[str, str]  # the variables that condor_dagman gets by value


def write(
    options: SubmitOptions,
    output: Output,
    current: Mapping[str, str],
    check: Callable[[Prepared], None] | None = None,
) -> Prepared:
    """Write the submit file of the DAGMan job (manual: condor_submit_dag(1)), after the files of
    earlier runs have been dealt with.

    File names are relative to the working directory.  `current` is the environment that
    -import_env copies.  The DAG's CONFIG file lies over this process's configuration afterwards,
    see `adapters.knobs`.

    `check` is given what will be written, before any file is touched.

    Raises:
        PydagmanError: it can't be written, or what the DAG files or options say is wrong.
    """
    paths = options.paths()
    path = os.environ.get("PATH", "")
    dagman = options.dagman or find_dagman(sys.argv[0], path)
    facts = read_dag_files(options)
    valgrind = find_valgrind(path) if options.valgrind else ""
    htcondor2 = bindings()
    admin = _configuration("")
    options = with_auto_rescue(options, admin)
    config = _configuration(facts.config_file) if facts.config_file else admin
    _warn_of_ineffective_knobs(output)
    options = options._replace(
        dagman=dagman,
        insert_env=options.insert_env + facts.insert_env,
        include_env=options.include_env + facts.include_env,
    )
    options = _with_schedd_files(options, htcondor2)
    lines = _extra_lines(options, config, facts.job_attributes, output)
    if not options.force:  # which makes a new file
        options = _update(options, paths)
    fixed = {
        "_CONDOR_SCHEDD_ADDRESS_FILE": options.schedd_address_file,
        "_CONDOR_SCHEDD_DAEMON_AD_FILE": options.schedd_daemon_ad_file,
        "_CONDOR_DAGMAN_CONFIG_FILE": facts.config_file,
    }
    variables = environment(options, paths, fixed, current)
    description = _description(options, config, variables, lines, htcondor2.version())
    words = description.arguments
    if valgrind:
        under = (*_VALGRIND, dagman, *words)
        description = description._replace(executable=valgrind, arguments=under)
    text = condor_sub.text(description)
    prepared = Prepared(options, text, lines, config, admin, words, variables)
    if check:
        check(prepared)
    clear_old_files(options, paths, config, output)
    _write(paths.condor_sub, text)
    return prepared


def with_auto_rescue(options: SubmitOptions, admin: Config) -> SubmitOptions:
    """`options` with stock's default for -AutoRescue, which is not that of a CONFIG file."""
    if options.auto_rescue is not None:
        return options
    return options._replace(auto_rescue=int(admin.auto_rescue))


def summary(options: SubmitOptions) -> str:
    """The file names that are printed once the submit file is there."""
    paths = options.paths()
    rows = (
        ("File for submitting this DAG to HTCondor", paths.condor_sub),
        ("Log of DAGMan debugging messages", paths.dagman_out),
        ("Log of HTCondor library output", paths.lib_out),
        ("Log of HTCondor library error messages", paths.lib_err),
        ("Log of the life of condor_dagman itself", paths.dagman_log),
    )
    return "\n".join([DASHES, *(f"{label:<51}: {name}" for label, name in rows), ""])


def no_submit_lines(options: SubmitOptions) -> str:
    """What is printed instead of submitting."""
    return (
        "-no_submit given, not submitting DAG to HTCondor. You can do this with:\n"
        f'"condor_submit {options.paths().condor_sub}"'
    )


def own_directories(program: str) -> list[str]:
    """Where the commands of this installation may be, the likelier place first.

    That is beside `program` (the running script, links followed); then where the packages of
    distributions have them, since beside the system's Python there are HTCondor's own of the same
    names; else among this Python's scripts.
    """
    scripts = packaged_commands() or os.path.dirname(sys.executable)
    return [os.path.dirname(os.path.realpath(program)), scripts]


def find_dagman(program: str, path: str) -> str:
    """Full path of the condor_dagman to run.

    That is the one of this installation, else the first in `path` (the variable PATH).

    Raises:
        FileError: there is none.
    """
    places = own_directories(program) + [place for place in path.split(os.pathsep) if place]
    found = _first_executable("condor_dagman", places)
    if not found:
        raise FileError(
            "ERROR: Failed to locate condor_dagman executable in PATH; "
            "name it with -dagman, or repair the installation of condor_pydagman"
        )
    return found


def find_valgrind(path: str) -> str:
    """Full path of the first valgrind in `path`.

    Raises:
        FileError: there is none.
    """
    found = _first_executable("valgrind", [place for place in path.split(os.pathsep) if place])
    if not found:
        raise FileError(
            "ERROR: can't find valgrind in PATH, aborting.\n"
            "       Install it, or leave -Valgrind out"
        )
    return found


def _first_executable(name: str, places: Iterable[str]) -> str:
    for place in places:
        path = os.path.join(os.path.abspath(place), name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def insert_lines(path: str) -> list[str]:
    """The lines of an -insert_sub_file, trimmed, continued lines joined.

    Raises:
        FileError: it can't be read, or has no end.
    """
    try:
        with open(path, "rb") as file:  # which may be a pipe: a shell's <(command)
            data = file.read(MAX_INSERT_BYTES + 1)
    except OSError as error:
        reason = f"({error.strerror})"
        raise FileError(f"ERROR: Unable to read submit append file {path} {reason}") from None
    if len(data) > MAX_INSERT_BYTES or b"\0" in data:
        wrong = "there is a NUL in it" if b"\0" in data else f"more than {MAX_INSERT_BYTES:,} bytes"
        raise FileError(f"ERROR: Unable to read submit append file {path} ({wrong})")
    text = data.decode("utf-8", "surrogateescape")
    lines: list[str] = []
    begun = ""
    for line in text.removesuffix("\n").split("\n") if text else ():
        if begun and line.lstrip().startswith("#"):
            continue
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
    variables["_CONDOR_DAGMAN_LOG"] = paths.dagman_out
    variables["_CONDOR_MAX_DAGMAN_LOG"] = "0"
    variables.update((name, value) for name, value in fixed.items() if value)
    return variables


def bindings() -> Any:
    """Import htcondor2, which reads HTCondor's configuration and complains on stderr."""
    named = os.environ.get("CONDOR_CONFIG")
    import htcondor2

    if (
        named is not None
        and named.upper() != "ONLY_ENV"
        and (not os.path.exists(named) or os.path.isdir(named))
    ):
        wrong = "is a directory" if os.path.exists(named) else "does not exist"
        raise FileError(f"ERROR: CONDOR_CONFIG names '{named}', which {wrong}; correct it")
    return htcondor2


def _configuration(config_file: str) -> Config:
    from condor_pydagman.adapters import knobs

    if config_file and not os.access(config_file, os.R_OK):
        raise FileError(f"ERROR: Can't read DAGMan config file: {config_file}")
    if os.path.isdir(config_file):
        raise FileError(f"ERROR: Can't read DAGMan config file: {config_file} is a directory")
    return knobs.load(config_file)


def _warn_of_ineffective_knobs(output: Output) -> None:
    from condor_pydagman.adapters import knobs

    if knobs.truth("DAGMAN_WRITE_PARTIAL_RESCUE") is False:
        output.out("WARNING: DAGMAN_WRITE_PARTIAL_RESCUE = False.")
        output.out("   The use of full Rescue DAG's is deprecated and slated")
        output.out("   for removal during the lifetime of V24 feature series of HTCondor.\n")


def _with_schedd_files(options: SubmitOptions, htcondor2: Any) -> SubmitOptions:
    """Take the schedd's files from the configuration, or put the given ones into it."""
    from condor_pydagman.adapters import knobs

    values: dict[str, Any] = {}
    for attribute in ("schedd_address_file", "schedd_daemon_ad_file"):
        given = getattr(options, attribute)
        if given:
            htcondor2.param[attribute.upper()] = given
        values[attribute] = given or knobs.lookup(attribute.upper()) or ""
    return options._replace(**values)


def _extra_lines(
    options: SubmitOptions, config: Config, job_attributes: Iterable[str], output: Output
) -> list[str]:
    """The lines that go before `queue`, in stock's order."""
    lines: list[str] = []
    given, knob = options.insert_sub_file, config.insert_sub_file
    if given and knob:
        output.out(
            f"Note: -insert_sub_file value ({given}) overriding "
            f"DAGMAN_INSERT_SUB_FILE setting ({knob})"
        )
    if given or knob:
        lines += insert_lines(given or knob)
    lines += [f"My.{attribute}" for attribute in job_attributes]
    lines += options.append
    if lines:
        _refuse_queue("\n".join(lines))
    return lines


def _refuse_queue(text: str) -> None:
    """Lines may hold line breaks, be continued, or be part of a value of several lines."""
    from condor_pydagman.language.description import template_of  # late: most have none

    ours = "queue 1 last"
    (_, found), *_ = template_of(f"{text}\n\n{ours}\n")
    if found.strip() != ours:
        raise FileError(
            f"ERROR: {found.strip()!r} can't be added to the submit file: DAGMan must be one job."
            " Take it out of -append or -insert_sub_file"
        )


def _update(options: SubmitOptions, paths: DagPaths) -> SubmitOptions:
    """Obey -update_submit: keep the -Max options of an existing submit file."""
    from condor_pydagman.adapters.files import read_text

    if not options.update_submit or not os.path.exists(paths.condor_sub):
        return options
    try:
        text = read_text(paths.condor_sub, own=True)
    except (OSError, FileError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        reason = f"(-update_submit can't read it: {why})"
        raise FileError(
            f"ERROR: Unable to create submit file {paths.condor_sub} {reason}"
        ) from None
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


def _write(path: str, text: str) -> None:
    from condor_pydagman.adapters import files

    try:
        # Not durable: the schedd is given the text, and who loses the file can make it anew.
        files.replace(path, [text], keep_mode=True, durable=False)
    except FileError as error:
        reason = f"ERROR: Unable to create submit file {path} ({error})"
        raise FileError(reason, transient=error.transient) from None


class Output(NamedTuple):
    """Where lines go that stock condor_submit_dag prints: its standard output, its errors."""

    out: Callable[[str], None]
    err: Callable[[str], None]


_HINT = """\

Some file(s) needed by condor_dagman already exist. Either:
- Rename them
- Use the "-f" option to force them to be overwritten
\tor
- Use the "-update_submit" option to update the submit file and continue.
"""
_OLD_RESCUE = """\
\tYou may want to resubmit your DAG using that file, instead of "{dag}"
\tLook at the HTCondor manual for details about DAG rescue files.
\tPlease investigate and either remove "{rescue}",
\tor use it as the input to condor_submit_dag.
"""


class EarlierRunError(FileError):
    """Files of an earlier run are in the way."""

    def __init__(self, found: str, hint: str) -> None:
        super().__init__(found + hint)
        self.found = found  # which ones, as text


def refuse_running(paths: DagPaths) -> None:
    """Refuse to prepare a DAG whose DAGMan is running: that would delete its files.

    Raises:
        FileError: it does; the message names its job.
    """
    holder = living_holder(paths.lock)
    if holder is None:
        return
    who, stop = "its lock file is held", "stop it"
    if holder.cluster:
        who, stop = f"as job {holder.cluster}", f"remove it with `condor_rm {holder.cluster}`"
    elif holder.pid > 0:
        who, stop = f"as process {holder.pid}", f"stop it with `kill {holder.pid}`"
    raise FileError(
        f"ERROR: DAGMan is running {paths.primary} ({who}; see {paths.lock})\n"
        "       Nothing has been changed or submitted. Wait until it has ended, or\n"
        f"       {stop}, then submit the DAG again."
    )


def clear_old_files(
    options: SubmitOptions, paths: DagPaths, config: Config, output: Output
) -> None:
    """Deal with the files of earlier runs, as the options say, before `.condor.sub` is written.

    `options.auto_rescue` must have been filled in.

    Raises:
        FileError: a file is in the way, is missing, or can't be removed or renamed.
    """
    number = options.do_rescue_from
    if number and not os.path.exists(paths.rescue(number)):
        raise FileError(
            f"ERROR: -dorescuefrom {number} specified, but rescue DAG file "
            f"{paths.rescue(number)} does not exist!"
        )
    highest = config.max_rescue_num
    asked = options.auto_rescue and not options.force
    if not (asked and _announce_rescue(options, paths, highest, output)):
        _refuse_existing(options, paths)
    _delete(paths.halt)
    if options.force:
        for name in (paths.condor_sub, paths.dagman_log, paths.lib_out, paths.lib_err):
            _delete(name)
        _set_rescue_files_aside(paths, highest, output)


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        reason = f"({error.errno}): {error.strerror}"
        raise FileError(f"ERROR: Failed to unlink file {path} {reason}") from None


def _set_rescue_files_aside(paths: DagPaths, highest: int, output: Output) -> None:
    """Rename all rescue files to `.old`; numbers that are missing are passed over."""
    output.err("Renaming rescue DAGs newer than number 0")
    for number in sorted(rescue_numbers(paths)):
        name = paths.rescue(number)
        if number > highest:
            continue
        output.err(f"Renaming {name}")
        rename_rescue_file(name)


def _announce_rescue(options: SubmitOptions, paths: DagPaths, highest: int, output: Output) -> bool:
    """Say which rescue file condor_dagman will run from; whether there is one."""
    numbers = sorted(number for number in rescue_numbers(paths) if 1 <= number <= highest)
    last = numbers[-1] if numbers else 0
    if last and (options.rescue_file or options.load_save):
        return True
    for number in numbers:
        if number > 1 and number - 1 not in numbers:
            missing = f"but not rescue DAG number {number - 1}"
            output.out(f"Warning: Found rescue DAG number {number}, {missing}")
    if last >= highest:
        output.out(f"Warning: Hit maximum rescue DAG number: {highest}")
    if last:
        output.out(f"Running rescue DAG {options.do_rescue_from or last}")
    return bool(last)


def _refuse_existing(options: SubmitOptions, paths: DagPaths) -> None:
    lines = []
    chosen = options.do_rescue_from or options.rescue_file or options.load_save
    if not chosen and not options.update_submit and not options.force:
        for name in (paths.condor_sub, paths.lib_out, paths.lib_err, paths.dagman_log):
            if os.path.lexists(name):
                lines.append(f'ERROR: "{name}" already exists.\n')
    old_rescue = paths.primary + ".rescue"
    if not options.auto_rescue and not options.do_rescue_from and os.path.exists(old_rescue):
        lines.append(f'ERROR: "{old_rescue}" already exists.\n')
        lines.append(_OLD_RESCUE.format(dag=paths.primary, rescue=old_rescue))
    if lines:
        raise EarlierRunError("".join(lines), _HINT.rstrip("\n"))
