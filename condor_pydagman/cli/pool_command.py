"""`condor_pydagman pool`: starts, uses and stops a personal HTCondor."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.pool import Pool
from condor_pydagman.pool.personal import POOL_VARIABLE

Action = Callable[[argparse.Namespace], int]


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers,
        "pool",
        "start, use and stop a personal HTCondor on this machine",
        "Start, use and stop a personal HTCondor on this machine.",
    )
    inner = parser.add_subparsers(metavar="ACTION", required=True)
    start = _pool_action(
        inner, "start", _start, "start the pool; download HTCondor if it is not installed"
    )
    start.add_argument(
        "--timeout",
        type=integer(1),
        default=60,
        metavar="SECONDS",
        help="how long to wait until it is up",
    )
    start.add_argument(
        "--slots",
        type=integer(1),
        default=16,
        metavar="N",
        help="number of jobs that can run at a time",
    )
    start.add_argument(
        "--release",
        type=Path,
        metavar="PATH",
        help="the HTCondor to run: a directory, or a tarball as HTCondor's own site has them"
        " (default: an installed one, else one that is downloaded)",
    )
    _pool_action(inner, "stop", _stop, "stop the pool and all its jobs; the queue is kept")
    _pool_action(inner, "status", _status, "show whether the pool is up (exit code 0) or not (1)")
    _pool_action(inner, "env", _env, 'print settings for a shell: eval "$(... pool env)"')
    run = _pool_action(inner, "run", _run, "run a command in the environment of the pool")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND ...")


def _pool_action(
    inner: Subparsers, name: str, action: Action, summary: str
) -> argparse.ArgumentParser:
    parser = add_subcommand(inner, name, summary, summary, action)
    parser.add_argument(
        "--dir",
        metavar="DIR",
        help=f"directory of the pool (default: ${POOL_VARIABLE}, else your own)",
    )
    return parser


def _pool(arguments: argparse.Namespace) -> Pool:
    return Pool(arguments.dir, say=lambda text: say(text, flush=True))


def _start(arguments: argparse.Namespace) -> int:
    pool = _pool(arguments)
    fresh = pool.start(arguments.timeout, arguments.slots, arguments.release)
    say(f"the pool in {pool.directory} {'is up' if fresh else 'was up already'}")
    chosen = f"--dir {shlex.quote(arguments.dir)} " if arguments.dir else ""
    say(f"use it with: condor_pydagman pool run {chosen}COMMAND")
    return 0


def _stop(arguments: argparse.Namespace) -> int:
    pool = _pool(arguments)
    ran = pool.stop()
    say(f"the pool in {pool.directory} {'is stopped' if ran else 'was not running'}")
    return 0


def _status(arguments: argparse.Namespace) -> int:
    pool = _pool(arguments)
    status = pool.status()
    if not status.up:
        say(f"the pool in {pool.directory} is {'not answering' if status.master else 'down'}")
        return 1
    say(f"the pool in {pool.directory} is up (condor_master: process {status.master})")
    for daemon, address in status.addresses.items():
        say(f"{daemon}: {address}")
    counts = ", ".join(f"{number} {state}" for state, number in sorted(status.jobs.items()))
    say(f"jobs: {counts or 'none'}")
    return 0


def _env(arguments: argparse.Namespace) -> int:
    pool = _pool(arguments)
    environment = pool.environment()
    for name in ("CONDOR_CONFIG", "PATH", POOL_VARIABLE):
        print(f"export {name}={shlex.quote(environment[name])}")
    if pool.identity.way:
        say("As root, submit with: condor_pydagman pool run COMMAND", error=True)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        arguments.parser.error("name a command to run")
    pool = _pool(arguments)
    environment = pool.environment()
    wrapped = pool.command(command)
    try:
        os.execvpe(wrapped[0], wrapped, environment)
    except OSError as error:
        say(f"condor_pydagman: {command[0]}: {error.strerror}", error=True)
        return 127 if isinstance(error, FileNotFoundError) else 126
