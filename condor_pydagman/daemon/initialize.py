"""The start of a process: open `.dagman.out`, write the banner, read and log the configuration.

The log is opened before the command line is parsed, so that an error in it (arguments of a newer or
older HTCondor, for example) is logged there as well as in `.lib.err`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

import htcondor2

from condor_pydagman import __version__
from condor_pydagman.adapters import knobs
from condor_pydagman.adapters.knobs import KnobSources
from condor_pydagman.adapters.outlog import OutLog, log_path
from condor_pydagman.adapters.schedd import schedd_version
from condor_pydagman.config import Config, effective_limit, limited_by
from condor_pydagman.config.table import fields_of_knobs
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.engine import FORM
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import banner, log_lines

# The name that DAGMan was called by, with which `.dagman.out` begins.
#
# Stock reads it from `argv[0]`, which a Python program can't: the kernel replaces it by the path of
# the script.  It matters for pegasus-dagman, which starts condor_dagman as
# `condor_scheduniv_exec.ID`: pegasus-monitord and pegasus-remove find the id of the DAGMan job, and
# the start of a run, only in that name.

DEFAULT_NAME = "condor_dagman"
_WRAPPER = "pegasus-dagman"


def program_name(path: str, environment: Mapping[str, str], parent: Sequence[str]) -> str:
    """The name that stock would have found in `argv[0]`, without its directory.

    Args:
        path: of this script.
        environment: of this process; the schedd sets `CONDOR_ID` to the id of the DAGMan job.
        parent: command line of the parent process.
    """
    job = environment.get("CONDOR_ID", "")
    wrapped = any(os.path.basename(word).startswith(_WRAPPER) for word in parent)
    if job and wrapped:
        return f"condor_scheduniv_exec.{job}"
    name = os.path.basename(path)
    return DEFAULT_NAME if not name or name.endswith(".py") else name


def parent_command() -> list[str]:
    """Command line of the parent process; empty if it is unknown."""
    try:
        with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
            words = file.read(65536).split(b"\0")
    except OSError:
        return []
    return [os.fsdecode(word) for word in words if word]


class Settings(NamedTuple):
    """What this run is asked for, and the knobs."""

    options: DagmanOptions  # DAGMan's own command line
    config: Config  # those in force: the DAG's CONFIG file and the command line among them
    admin: Config  # without these: the administrator's, whose throttles are upper limits


def open_log() -> OutLog:
    """Open `.dagman.out` and write the banner.

    Raises:
        OSError: it can't be opened.
    """
    out = OutLog(log_path())
    os.environ["_CONDOR_DAGMAN_LOG"] = out.path  # for scripts
    touched = ""
    if out.touched is not None:
        touched = time.strftime("%m/%d %H:%M:%S", time.localtime(out.touched))
    process = banner.Process(
        executable=os.path.abspath(sys.argv[0]),
        version=htcondor2.version(),
        platform=htcondor2.platform(),
        pid=os.getpid(),
        user_id=os.getuid(),
        config_source=os.environ.get("CONDOR_CONFIG", ""),
        last_touched=touched,
        name=program_name(sys.argv[0], os.environ, parent_command()),
    )
    for line in banner.start_lines(process):
        out.say(line, 0)
    out.flush()  # pegasus-monitord gives up on a file that stays empty while the DAG is read
    return out


def configure(options: DagmanOptions, out: OutLog) -> Settings:
    """Read the knobs, log them, and set the format and verbosity of the log.

    Raises:
        ConfigError: the DAG's CONFIG file can't be read, or a value is wrong.
    """
    knobs.set_subsystem("DAGMAN")
    _say_versions(out)
    admin, places = knobs.load(""), knobs.knob_sources()
    file = os.environ.get("_CONDOR_DAGMAN_CONFIG_FILE", "")
    if not admin.disable_admin_throttle_limiting:
        out.say("Administrator set throttle limits enabled", 0)
    if file:
        out.say(f"Using DAGMan config file: {file}", 0)
    config = with_options(limited_by(admin, knobs.load(file)) if file else admin, options)
    for line in (*banner.setting_lines(config), *_throttle_places(admin, config, places)):
        out.say(line, 0)
    _set_log_format(out)
    if config.debug_cache_enable:
        out.say("Enabling log line cache for increased NFS performance.", 0)
    out.verbosity = max(config.verbosity if options.debug is None else options.debug, 0)
    return Settings(options, config, admin)


def _throttle_places(admin: Config, config: Config, admin_places: KnobSources) -> Iterator[str]:
    """Where the throttles come from that are not defaults: readers of a DAG can't ask its CONFIG
    file, which is its author's."""
    for name, knob in fields_of_knobs():
        if not knob.caps:
            continue
        own, limit = getattr(config, name), getattr(admin, name)
        free = admin.disable_admin_throttle_limiting
        value = own if free else effective_limit(own, limit)
        if value != knob.default:
            places = knobs.knob_sources() if value == own else admin_places
            yield banner.place_line(knob.name, value, places.name(knob.name))


def _say_versions(out: OutLog) -> None:
    met = banner.Versions(
        ours=f"{__version__} ({FORM})",
        python=sys.version.split()[0],
        bindings=htcondor2.version(),
        schedd=schedd_version(),
    )
    out.say("\n".join(banner.version_lines(met)), 0)


def with_options(config: Config, options: DagmanOptions) -> Config:
    """The knobs, overridden by options of the command line."""
    names = "always_run_post", "suppress_notification"
    said = {name: getattr(options, name) for name in names}
    return config.but(**{name: value for name, value in said.items() if value is not None})


def _set_log_format(out: OutLog) -> None:
    """Set the header of the lines that follow."""
    own = knobs.lookup("DAGMAN_DEBUG")
    flags = (knobs.lookup("ALL_DEBUG"), knobs.lookup("DEFAULT_DEBUG") if own is None else own)
    epoch = bool(knobs.truth("LOGS_USE_TIMESTAMP"))
    names = ("ALL_DEBUG", "DAGMAN_DEBUG")
    for name, value in zip(names, (flags[0], own)):
        if value:
            out.say(f"{name} setting: {value}", 0)
    time_format = (knobs.lookup("DEBUG_TIME_FORMAT") or "").strip('"')
    wanted = [flag or "" for flag in flags]
    out.tests = log_lines.wants_tests(wanted)
    out.set_header(log_lines.header(wanted, time_format, epoch))
