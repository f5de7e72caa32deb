"""A site's modules, as `data_requests.site_programs` finds them: running one.

A module is an executable file of any language in one of the directories that the administrator
names.  It is looked for anew each time, so a site adds one without restarting anything.

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

Allocations can be made by modules as well, of space, bandwidth, whatever the module for a host can
do.  `stork.allocate.NAME` (see `data_requests.space`) is called with

    dest_host allocation_id size duration arguments...

and `stork.release.NAME` with

    dest_host allocation_id arguments...

Size is in bytes, duration in seconds; 0 is none.  Both may be called again with the same id, when
it is not known how the first call ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Allocate
from condor_pydagman.data_requests.space import Request, module_names, server_of, space_module
from condor_pydagman.data_requests.urls import LOCAL, MASK, Url, masked_text
from condor_pydagman.placement import child_process
from condor_pydagman.placement.child_process import Ended, last_line
from condor_pydagman.placement.way import Progress, Surroundings
from condor_pydagman.printable import message
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


def manage_space(request: Request, surroundings: Surroundings, progress: Progress) -> str:
    """Run the module; what a person reads: "module stork.allocate.nest".

    Raises:
        Fault: it failed, or there is none.
    """
    path = space_module(request, surroundings.settings.module_directories)
    if not path:
        reason = f"there is no {module_names(request)[0]} any more"
        raise Fault(FaultKind.MODULE, reason, transient=False)
    url, host = server_of(request.host), request.host
    if "://" in host and url.scheme != LOCAL:
        host = argument(url)  # without secrets
    numbers = (
        [str(request.size), f"{request.duration_s:.0f}"] if isinstance(request, Allocate) else []
    )
    ended = child_process.run(
        [path, host, request.allocation_id, *numbers, *request.arguments],
        environment(surroundings, {"STORK_DEST_HOST": request.host}),
        surroundings.directory,
        progress,
        timeout_s=surroundings.settings.module_timeout_s,
    )
    name = os.path.basename(path)
    if ended.code:
        raise fault_of(name, ended, url.server, url)
    return f"module {name}"
