"""NOTIFY: which events go where."""

from __future__ import annotations

import pytest

from condor_pydagman.features.notify.commands import Notification, read_notification
from condor_pydagman.language.lexer import LineError, Words


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dag.end PROGRAM ./x", Notification(0, "dag.end", "PROGRAM", "./x")),
        ("* program /bin/x  a b", Notification(0, "*", "PROGRAM", "/bin/x  a b")),
        (
            "dag.*,node.state=ERROR URL https://example.org/h?t=1",
            Notification(0, "dag.*,node.state=ERROR", "URL", "https://example.org/h?t=1"),
        ),
    ],
)
def test_lines(line: str, found: Notification) -> None:
    assert read_notification(Words(line)) == found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dag.ends PROGRAM x", "There are no events 'dag.ends'"),
        ("dag.end, PROGRAM x", "There are no events ''"),
        ("node.state=EROR PROGRAM x", "There is no state 'EROR' of a node"),
        ("x* PROGRAM x", "There are no events 'x*'"),
        ("dag PROGRAM x", "There are no events 'dag'"),
        ("dag.end URL file:///etc/passwd", "'file:///etc/passwd' is no http or https URL"),
        ("dag.end URL http://a b", "'http://a b' is no http or https URL"),
        ("dag.end URL http://h:x/", "'http://h:x/' is no http or https URL"),
        ("dag.end URL http://[::1/", "'http://[::1/' is no http or https URL"),
        ("dag.end URL https://me:secret@h/x", "NOTIFY sends no user or password of a URL"),
        ("dag.end URL https://me:se/cret@h/x", "it is no http or https URL"),
        ("dag.end URL https://me@h/x", "NOTIFY sends no user or password of a URL"),
        ("dag.end URL http://:80/", "'http://:80/' is no http or https URL"),
    ],
)
def test_errors(line: str, message: str) -> None:
    with pytest.raises(LineError) as caught:
        read_notification(Words(line))
    assert caught.value.message == message
