"""The command NOTIFY, and how its line is read and written: events that go to a program or a URL.

The knob PYDAGMAN_NOTIFY has the same words.
"""

from __future__ import annotations

import re

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words
from condor_pydagman.dagfile.lines import Context, needed, normal
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import DAG_EVENTS, NodeStatus

TARGETS = ("PROGRAM", "URL")
_KIND = re.compile(r"(?P<name>[a-z_.]+)(?P<all>\*)?(?:=(?P<value>[^,=*]+))?|\*")
_URL = re.compile(r"https?://[!-~]+")


class Notification(NamedTuple):
    """Which events go where.

    Attributes:
        kinds: names of events, comma-separated; `dag.*`, `*` and `node.state=ERROR` as well.
        to: one of TARGETS.
        target: the program with its arguments, or the URL.
    """

    kinds: str
    to: str
    target: str


class NotifyLine(NamedTuple):
    """NOTIFY: which events go where, as of `Notification`."""

    line: int
    kinds: str
    to: str
    target: str


_NO_USER = "NOTIFY sends no user or password of a URL"
_INSTEAD = "a PROGRAM can send it, which reads the password from a file that only you can read"


def read_notify(words: Words, context: Context) -> NotifyLine:
    """NOTIFY."""
    return NotifyLine(context.lines.number, *read_notification(words))


def write_notify(command: NotifyLine) -> str:
    """NOTIFY."""
    return f"NOTIFY {command.kinds} {command.to} {command.target}"


def read_notification(words: Words) -> Notification:
    """What stands behind the word NOTIFY.

    Raises:
        LineError: it can't be read.
    """
    kinds = needed(words, "Missing kinds of events")
    for kind in kinds.split(","):
        _check(kind, words)
    word = needed(words, "Missing PROGRAM or URL")
    to = next((known for known in TARGETS if normal(word) == known), "")
    if not to:
        raise LineError(f"Unexpected token '{word}'", words, TARGETS)
    target = words.rest().strip()
    if not target:
        raise LineError(f"{to} missing its {'path' if to == 'PROGRAM' else 'address'}", words)
    if to == "URL":
        _check_url(target, words)
    return Notification(kinds, to, target)


def _check_url(target: str, words: Words) -> None:
    from urllib.parse import urlsplit  # only where there is one: it takes long

    if not _is_url(target):
        shown = "it" if "@" in target else f"'{target}'"  # there may be a password before an @
        raise LineError(f"{shown} is no http or https URL", words)
    if "@" in urlsplit(target).netloc:
        raise LineError(_NO_USER, words, hint=_INSTEAD)


def _check_value(name: str, value: str | None, words: Words) -> None:
    states = tuple(status.name for status in NodeStatus)
    if name == "node.state" and value and value not in states:
        raise LineError(f"There is no state '{value}' of a node", words, states)


def _is_url(text: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        return bool(_URL.fullmatch(text) and parts.hostname) and parts.port != 0
    except ValueError:  # of a port, or an IPv6 address
        return False


def _check(kind: str, words: Words) -> None:
    found = _KIND.fullmatch(kind)
    if found is not None:
        name = found["name"] or ""
        known = [event for event in DAG_EVENTS if event.startswith(name)]
        if known and (found["all"] or not name or name in DAG_EVENTS):
            _check_value(name, found["value"], words)
            return
    hint = f"known are: {', '.join(DAG_EVENTS)}; a * at the end stands for all that begin so"
    raise LineError(f"There are no events '{kind}'", words, tuple(DAG_EVENTS), hint)


LANGUAGE = (
    extension(
        "NOTIFY <events> (PROGRAM <path> [<arguments>]|URL <address>)",
        "Events of the DAG that are handed to a program or a URL.",
        after="JOBSTATE_LOG",
    ),
)
SYNTAX = (Syntax("NOTIFY", NotifyLine, read_notify, write_notify),)
