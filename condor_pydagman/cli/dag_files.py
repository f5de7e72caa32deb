"""The files that condor_submit_dag finds before it writes one: DAG files and those of earlier runs.

Source: manual, "File Paths in DAGs" and "Rescue DAGs", and what stock condor_submit_dag prints.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from condor_pydagman.adapters.files import read_text, rescue_numbers, set_aside
from condor_pydagman.adapters.lock_holder import living_holder
from condor_pydagman.cli.options import SubmitOptions
from condor_pydagman.errors import ConfigError, FileError
from condor_pydagman.names import DagPaths

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.dagfile.commands import Command

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


class Voice(NamedTuple):
    """Where lines go that stock condor_submit_dag prints: its standard output, its errors."""

    out: Callable[[str], None]
    err: Callable[[str], None]


class ManagerFacts(NamedTuple):
    """What the DAG files say about the DAGMan job itself.

    Attributes:
        config_file: absolute path of the DAG's configuration file, '' for none.
        job_attributes: raw `key = value` of the SET_JOB_ATTR commands.
        insert_env: raw variables of the ENV SET commands.
        include_env: raw variables of the ENV GET commands.
    """

    config_file: str
    job_attributes: tuple[str, ...] = ()
    insert_env: tuple[str, ...] = ()
    include_env: tuple[str, ...] = ()


def read_dag_files(options: SubmitOptions) -> ManagerFacts:
    """Read the CONFIG, SET_JOB_ATTR and ENV commands of all DAG files of the command line.

    Raises:
        FileError: a DAG file can't be read.
        DagFileError: a line is wrong, see `dagfile.parser.manager_commands`.
        ConfigError: more than one configuration file is named.
    """
    configs: list[str] = []
    attributes: list[str] = []
    env: dict[bool, list[str]] = {True: [], False: []}
    for path in options.dag_files:
        for command in _manager_commands(read_dag(path), path):
            from condor_pydagman.dagfile import commands

            if isinstance(command, commands.ConfigFile):
                name = _config_path(command.file, path if options.use_dag_dir else "")
                configs += [name] if name not in configs else []
            elif isinstance(command, commands.SetJobAttr):
                attributes.append(command.attribute)
            elif isinstance(command, commands.Env):
                raw = command.variables
                env[command.set].append(raw if command.set else _comma_separated(raw))
    config = _one_config(_config_path(options.config, "") if options.config else "", configs)
    return ManagerFacts(config, tuple(attributes), tuple(env[True]), tuple(env[False]))


def refuse_running(paths: DagPaths) -> None:
    """Refuse to prepare a DAG whose DAGMan lives: that would take its files away.

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


def make_way(options: SubmitOptions, paths: DagPaths, config: Config, voice: Voice) -> None:
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
    if not (asked and _announce_rescue(options, paths, highest, voice)):
        _refuse_existing(options, paths)
    _delete(paths.halt)
    if options.force:
        for name in (paths.condor_sub, paths.dagman_log, paths.lib_out, paths.lib_err):
            _delete(name)
        _set_rescue_files_aside(paths, highest, voice)


def read_dag(path: str) -> str:
    """The text of a DAG file.

    Raises:
        FileError: the message is stock's, and names the file.
    """
    prefix = "ERROR: "
    if not path:
        raise FileError(prefix + "No file path provided")
    if not os.path.exists(path):
        raise FileError(f"{prefix}Provided file path does not exist: {path}")
    if os.path.isdir(path):
        raise FileError(f"{prefix}Provided file path is not a file: {path}")
    try:
        return read_text(path)
    except FileError:
        raise FileError(f"{prefix}Provided file path is not a file: {path}") from None
    except OSError as error:
        raise FileError(f"{prefix}Failed to open file: {path}: {error.strerror}") from None


# Anything but short comments and commands that have nothing to do with the DAGMan job.
_TELLING = re.compile(
    r"[^ -z|}~\t\n]|\\[ \t]*$|^[ \t]*(?!#|(?:JOB|PARENT|RETRY|SCRIPT|VARS|PRIORITY|CATEGORY|"
    r"MAXJOBS|SUBDAG|FINAL|ABORT-DAG-ON|DOT|JOBSTATE_LOG|NODE_STATUS_FILE)[ \t])[^ \t\n]",
    re.ASCII | re.IGNORECASE | re.MULTILINE,
)
_LONGEST_PLAIN = 1 << 20


def _manager_commands(text: str, path: str) -> Sequence[Command]:
    """As `manager_commands`, which takes longer to import than most DAG files take to be read."""
    if len(text) < _LONGEST_PLAIN and not _TELLING.search(text):
        return ()
    from condor_pydagman.dagfile.parser import manager_commands

    return manager_commands(text, path)


def _comma_separated(names: str) -> str:
    return ",".join(names.replace(",", " ").split())


def _config_path(name: str, dag: str) -> str:
    """Absolute path of a configuration file; relative ones start at the cwd or at `dag`'s place.

    The name itself is not normalised: stock compares and passes it on as it is written.
    """
    return os.path.join(os.path.realpath(os.path.dirname(dag)), name)


def _one_config(given: str, found: list[str]) -> str:
    if len(found) > 1:
        raise ConfigError(
            f"ERROR: Multiple ({len(found)}) configuration files provided. "
            f"CONFIG lines name {' and '.join(found)}; only one can be used"
        )
    if given and found and given != found[0]:
        raise ConfigError(
            f"ERROR: Conflicting DAGMan config files specified: {given} and {found[0]}"
        )
    return given or "".join(found)


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        reason = f"({error.errno}): {error.strerror}"
        raise FileError(f"ERROR: Failed to unlink file {path} {reason}") from None


def _set_rescue_files_aside(paths: DagPaths, highest: int, voice: Voice) -> None:
    """Rename all rescue files to `.old`; numbers that are missing are passed over."""
    voice.err("Renaming rescue DAGs newer than number 0")
    for number in sorted(rescue_numbers(paths)):
        name = paths.rescue(number)
        if number > highest:
            continue
        voice.err(f"Renaming {name}")
        set_aside(name)


def _announce_rescue(options: SubmitOptions, paths: DagPaths, highest: int, voice: Voice) -> bool:
    """Say which rescue file condor_dagman will run from; whether there is one."""
    numbers = sorted(number for number in rescue_numbers(paths) if 1 <= number <= highest)
    last = numbers[-1] if numbers else 0
    if last and (options.rescue_file or options.load_save):
        return True
    for number in numbers:
        if number > 1 and number - 1 not in numbers:
            missing = f"but not rescue DAG number {number - 1}"
            voice.out(f"Warning: Found rescue DAG number {number}, {missing}")
    if last >= highest:
        voice.out(f"Warning: Hit maximum rescue DAG number: {highest}")
    if last:
        voice.out(f"Running rescue DAG {options.do_rescue_from or last}")
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
        raise FileError("".join(lines) + _HINT.rstrip("\n"))
