"""NOTIFY: what a Dag holds of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from condor_pydagman.feature_table import DAG_EVENTS
from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.language.keywords import ROWS
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.language.lines import Context, Lines
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeStatus

_KIND = re.compile(r"(?P<name>[a-z_.]+)(?P<all>\*)?(?:=(?P<value>[^,=*]+))?|\*")
_URL = re.compile(r"https?://[!-~]+")


_NO_USER = "NOTIFY sends no user or password of a URL"
_INSTEAD = "a PROGRAM can send it, which reads the password from a file that only you can read"


def _kinds(kinds: str, words: Words) -> str:
    for kind in kinds.split(","):
        _check(kind, words)
    return kinds


def _url(target: str, words: Words) -> str:
    from urllib.parse import urlsplit  # only where there is one: it takes long

    if not _is_url(target):
        shown = "it" if "@" in target else f"'{target}'"  # there may be a password before an @
        raise LineError(f"{shown} is no http or https URL", words)
    if "@" in urlsplit(target).netloc:
        raise LineError(_NO_USER, words, hint=_INSTEAD)
    return target


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
    raise LineError(f"There are no events '{kind}'", words, DAG_EVENTS, hint)


@rows.Row(
    "NOTIFY", "Events of the DAG that are handed to a program or a URL.", after="JOBSTATE_LOG"
)
class Notification(NamedTuple):
    """NOTIFY: which events go where.

    Attributes:
        kinds: names of events, comma-separated; `dag.*`, `*` and `node.state=ERROR` as well.
        to: PROGRAM or URL.
        target: the program with its arguments, or the URL.
    """

    line: int
    kinds: str = rows.name("kinds of events", "<events>", _kinds, sample="dag.end")
    to: str = rows.variants(
        {
            "PROGRAM": rows.rest("path", "<path> [<arguments>]", sample="./tell"),
            "URL": rows.rest("address", "<address>", _url, sample="https://example.org/"),
        }
    )
    target: str = ""


def read_notification(words: Words) -> Notification:
    """What stands behind the word NOTIFY.

    Raises:
        LineError: it can't be read.
    """
    return cast(Notification, ROWS["NOTIFY"].read(words, Context(Lines([]))))


class NotificationsOfDag(FeatureData):
    """The NOTIFY lines of a DAG."""

    def __init__(self) -> None:
        self.notifications: list[Notification] = []

    def first_lines(self) -> Iterator[Notification]:
        """As of `FeatureData`."""
        return iter(self.notifications)


def notifications_of(dag: Dag) -> Sequence[Notification]:
    """Which events of a DAG go where."""
    return NotificationsOfDag.of(dag).notifications


def notify(building: Building, command: Notification) -> None:
    """NOTIFY: each adds one; that of a splice has no effect, as of other files about the DAG."""
    if building.scope.outer is None:
        NotificationsOfDag.put(building.dag).notifications.append(command._replace(line=0))


APPLIED = (Applied(Notification, notify, refused=IN_THE_SUBMITTED_FILE),)
