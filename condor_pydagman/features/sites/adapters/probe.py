"""Probes of sites: programs beside the descriptions, `NAME.probe`, which print attributes that
change, such as the length of the site's queue, as lines `Attribute = expression`.

A probe that fails, or that takes too long, says that its site can't be used now.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from condor_pydagman.features.sites.adapters.files import parse
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

SUFFIX = ".probe"
MAX_OUTPUT = 100_000  # bytes of what a probe prints
_LOOK_S = 0.05  # between looks whether a probe has ended
_MAX_SHOWN = 200  # characters of what a probe says of its failure
# What condor_master gives its daemons, with a key by which they trust each other.
_SECRET = frozenset(("CONDOR_INHERIT", "CONDOR_PRIVATE_INHERIT"))
# What a site is, which its description says.
_FIXED = frozenset(("name", "mytype", "curmatches", "updatesequencenumber", "classadlifetime"))


class Probed(NamedTuple):
    """What a probe has come to.

    Attributes:
        attributes: the expressions that it printed, as text.
        problem: why the site can't be used now; '' if it can.
    """

    attributes: dict[str, str]
    problem: str = ""


def probe_of(description: Path) -> Path | None:
    """The probe beside a description; None if there is none."""
    path = description.with_suffix(SUFFIX)
    return path if path.exists() else None


def ask(probe: Path, name: str, timeout_s: float) -> Probed:
    """Run a probe with the site's name as its argument, in its own directory."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the program that the site's owner has named
            [os.fspath(probe.absolute()), name],
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=probe.absolute().parent,
            env={name: value for name, value in os.environ.items() if name not in _SECRET},
            start_new_session=True,
        )
    except OSError as error:
        advice = f" (chmod +x {probe})" if isinstance(error, PermissionError) else ""
        return Probed({}, f"{probe}: {error.strerror}{advice}")
    assert process.stdout is not None
    with process.stdout as pipe:
        try:
            data = _printed(process, pipe.fileno(), timeout_s)
        except subprocess.TimeoutExpired:
            return Probed({}, f"{probe}: no answer within {timeout_s:g} s")
        finally:
            _end(process)
    return _read(probe, process.returncode, data)


def _printed(process: subprocess.Popen[bytes], pipe: int, timeout_s: float) -> bytes:
    """What a probe prints until it ends, or until that is too much; what it leaves behind may have
    the other end of the pipe open.

    Raises:
        subprocess.TimeoutExpired: that takes too long.
    """
    os.set_blocking(pipe, False)
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    data, until = bytearray(), time.monotonic() + timeout_s
    while len(data) <= MAX_OUTPUT:
        left = until - time.monotonic()
        if left <= 0:
            raise subprocess.TimeoutExpired(process.args, timeout_s)
        has_ended = process.poll() is not None
        if not poll.poll(0 if has_ended else min(left, _LOOK_S) * 1000):
            if has_ended:
                break
            continue
        some = os.read(pipe, MAX_OUTPUT)
        if not some:
            process.wait(left)
            break
        data += some
    return bytes(data)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a probe, and what it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(probe: Path, code: int, data: bytes) -> Probed:
    if len(data) > MAX_OUTPUT:
        return Probed({}, f"{probe} prints more than {MAX_OUTPUT:,} bytes")
    text = data.decode("utf-8", "replace")
    if code:
        ended = f"exit code {code}" if code > 0 else f"signal {-code}"
        said = message(text.strip().rpartition("\n")[2][:_MAX_SHOWN])
        return Probed({}, f"{probe}: {ended}{f': {said}' if said else ''}")
    attributes, problems = parse(text, f"output of {probe}")
    if problems:
        return Probed({}, problems[0])
    fixed = next((name for name in attributes if name.lower() in _FIXED), "")
    if fixed:
        return Probed({}, f"{probe} prints {fixed}, which a probe can't set")
    return Probed({name: expression for name, (_, expression) in attributes.items()})
