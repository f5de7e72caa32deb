"""A site's modules: finding one that is safe to run, and running it.

A module is an executable file of any language in one of the directories that the administrator
names.  It is looked for anew each time, so a site adds one without restarting anything.  Modules
run as the user, so one that others could have written is refused.

What a module is told, and what it tells:

- `STORK_SRC_URL` and `STORK_DEST_URL` have the whole URLs of a transfer.  Those among its arguments
  lack passwords, and tokens in queries are replaced by `***`, since all users of a machine see the
  arguments of its processes.
- It runs in the directory of the request, with the environment and credentials of the worker.
- It may end with a code of sysexits.h: 64 (EX_USAGE) and 65 (EX_DATAERR) the request is refused for
  good; 66 (EX_NOINPUT) the source is not there; 68 (EX_NOHOST) and 69 (EX_UNAVAILABLE) the server
  fails; 73 (EX_CANTCREAT) the destination can't be written; 77 (EX_NOPERM) access is denied; 78
  (EX_CONFIG) it will not work before somebody changes something; 126 and 127 are a shell's words
  for a command that it can't run.  After any other code, and after a signal, the placement is tried
  again.
- The last line of its standard error is the reason that people read.
- Processes that it leaves behind are killed when it ends.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import re
import stat
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from condor_pydagman.data_requests.urls import MASK, Url, masked_text
from condor_pydagman.printable import message
from condor_pydagman.transfer.child_process import Ended, last_line
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.way import Surroundings
from condor_pydagman.vocabulary import SECRETS

_SECRET_CHARACTERS = 4  # shorter ones are also parts of ordinary words
_HTTP = frozenset(("http", "https", "dav", "davs"))
_CODES = {
    64: (FaultKind.REFUSED, False),
    65: (FaultKind.REFUSED, False),
    66: (FaultKind.MISSING, False),
    68: (FaultKind.SERVER, True),
    69: (FaultKind.SERVER, True),
    73: (FaultKind.DESTINATION, False),
    77: (FaultKind.DENIED, False),
    78: (FaultKind.MODULE, False),
    126: (FaultKind.MODULE, False),
    127: (FaultKind.MODULE, False),
}


def find(names: Sequence[str], directories: Sequence[str]) -> tuple[str, str]:
    """The first module with one of the names: its path, or '' and why there is none."""
    refused: list[str] = []
    for name in names:
        for directory in directories:
            path = os.path.join(directory, name)
            if not os.path.lexists(path):
                continue
            reason = refusal(path)
            if not reason:
                return path, ""
            refused.append(f"{path} {reason}")
    if refused:
        return "", "; ".join(refused)
    wanted = " or ".join(names)
    return "", f"no {wanted} in {', '.join(directories) or 'any directory: none is configured'}"


def refusal(path: str) -> str:
    """Why a module, or another program of the site's, is not run; '' if it is."""
    try:
        real = os.path.realpath(path)
        mode = os.stat(real).st_mode
    except OSError as error:
        return f"can't be used: {error.strerror}"
    if not os.path.isabs(path):
        return "is not used: its directory must be an absolute path"
    if stat.S_ISDIR(mode):
        return "is a directory"
    if not stat.S_ISREG(mode):
        return "is no file"
    for place in dict.fromkeys((real, *_directories(real), *_directories(os.path.abspath(path)))):
        writer = _other_writer(place)
        if writer:
            what = "it" if place == real else place
            return f"is not run: {what} {writer}"
    return "" if os.access(real, os.X_OK) else "is not executable"


def _directories(path: str) -> list[str]:
    """All directories above a path, and where their links lead."""
    found = []
    while path != "/":
        path = os.path.dirname(path)
        found.append(path)
    return found


def _other_writer(path: str) -> str:
    """Who else may change this file or directory; '' if only root, condor and the user may."""
    try:
        info = os.stat(path)
    except OSError as error:
        return f"can't be looked at: {error.strerror}"
    if info.st_uid not in _trusted_owners():
        return f"belongs to user {info.st_uid}"
    if stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX:
        return ""  # there nobody can replace what is another user's
    if info.st_mode & stat.S_IWOTH:
        return "is writable by all users"
    if info.st_mode & stat.S_IWGRP and not _is_private_group(info.st_gid, info.st_uid):
        return f"is writable by group {info.st_gid}"
    return ""


def _is_private_group(group: int, owner: int) -> bool:
    """Whether a group is root's, or has its number from a user: one group for each user."""
    return group == 0 or (group == owner and group == os.getegid())


@functools.lru_cache(maxsize=1)
def _trusted_owners() -> frozenset[int]:
    # Whoever owns / can change everything; in a user namespace root may have another number.
    owners = {0, os.geteuid(), os.stat("/").st_uid}
    with contextlib.suppress(KeyError):
        owners.add(pwd.getpwnam("condor").pw_uid)
    return frozenset(owners)


def argument(url: Url) -> str:
    """A URL as an argument: without its password, tokens in its query masked.

    A user without a password stays, except over http, where a token may stand there.
    """
    user = "" if url.scheme in _HTTP and not url.password else url.user
    query = masked_text(f"?{url.query}")[1:] if url.query else ""
    return url._replace(user=user, password="", query=query).with_secrets()


def environment(surroundings: Surroundings, more: Mapping[str, str]) -> dict[str, str]:
    """Variables of a module or plugin: those of the worker without DAGMan's own secrets, and
    `more`, without what is empty in it."""
    found = {name: v for name, v in surroundings.environment.items() if name not in SECRETS}
    found.update((name, value) for name, value in more.items() if value)
    return found


def proxy_path(proxy: str, surroundings: Surroundings) -> str:
    """The X.509 proxy that a request names; '' for that of the environment."""
    if proxy in ("", "default"):
        return ""
    return os.path.join(surroundings.directory, proxy)


def said(ended: Ended, *urls: Url) -> str:
    """The last line that a program has printed, for a message: without the secrets of the URLs that
    it was given, in whatever form it prints them."""
    line = last_line(ended.errors) or last_line(ended.output)
    return message(without_secrets(line, *urls))


def without_secrets(text: str, *urls: Url) -> str:
    """A text of a program's that knows these URLs, without their passwords and tokens."""
    text = masked_text(text)
    for url in urls:
        secrets = [url.password, quote(url.password, safe="")]
        for part in re.split("[&;]", url.query):
            if masked_text(f"?{part}") != f"?{part}":
                value = part.partition("=")[2]
                secrets += [value, unquote(value)]
        for secret in secrets:
            if len(secret) >= _SECRET_CHARACTERS:
                text = text.replace(secret, MASK)
    return text


def fault_of(name: str, ended: Ended, host: str, *urls: Url) -> Fault:
    """What it means that a module has ended so.

    `host`: whose server it worked with; `urls`: whose secrets it knows.
    """
    kind, transient = _CODES.get(ended.code, (FaultKind.MODULE, True))
    line = said(ended, *urls)
    reason = f"{name} {ended.how}" + (f": {line}" if line else "")
    is_server = kind is FaultKind.SERVER
    return Fault(kind, reason, transient=transient, host=host if is_server else "")
