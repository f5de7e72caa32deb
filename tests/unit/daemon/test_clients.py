"""What a client's ClassAd means, and the refusals: stock 25.14.1 was asked all of these."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import cedar
from condor_pydagman.daemon.clients import Control, parsed_command, refused, was_halted
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import Halt, LimitsWanted, Resume
from condor_pydagman.engine.report import Halts
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import REPLY_TIMEOUT_S

SECRET = 'scheduler-universe-7.0#[Encryption="NO";]0123'


def ad(**attributes: cedar.Value) -> cedar.Ad:
    return cedar.MessageReader(cedar.encode_ad(attributes)).ad()


@pytest.mark.parametrize(
    ("secret", "attributes", "trusted", "error"),
    [
        ("", {"Secret": ""}, False, "DAGMan has no command secret and trusts no one"),
        (SECRET, {}, False, "No contact secret provided in request"),
        (SECRET, {"Secret": 5}, False, "No contact secret provided in request"),
        (SECRET, {"Secret": "x"}, False, "Invalid secret provided"),
        (SECRET, {"Secret": ""}, False, "Invalid secret provided"),
        (SECRET, {"Secret": SECRET[:-1]}, False, "Invalid secret provided"),
        (SECRET, {"Secret": SECRET + "0"}, False, "Invalid secret provided"),
        (SECRET, {"Secret": "é\udcff"}, False, "Invalid secret provided"),
        (SECRET, {"Secret": SECRET}, True, "No DAG command provided in request"),
        (
            SECRET,
            {"Secret": SECRET, "DagCommand": "halt"},
            True,
            "No DAG command provided in request",
        ),
        (SECRET, {"Secret": SECRET, "DagCommand": 0}, True, "Unknown DAG command (0) provided"),
        (SECRET, {"Secret": SECRET, "DagCommand": 4}, True, "Unknown DAG command (4) provided"),
        (SECRET, {"Secret": SECRET, "DagCommand": -1}, True, "Unknown DAG command (-1) provided"),
    ],
)
def test_unauthorised_and_unknown_requests_are_refused(
    secret: str, attributes: dict[str, cedar.Value], trusted: bool, error: str
) -> None:
    request = ad(**{"DagCommand": 1, **attributes} if not trusted else attributes)
    assert refused(request, secret) == {"Result": False, "Trusted": trusted, "ErrorString": error}


@pytest.mark.parametrize(
    ("own_ad", "halted"),
    [
        ({}, None),  # the schedd did not answer
        ({"Owner": "ann", "PYDAGMAN_HaltedByCommand": None, "DAG_Status": None}, False),
        ({"PYDAGMAN_HaltedByCommand": True, "DAG_Status": 0}, True),
        ({"PYDAGMAN_HaltedByCommand": False, "DAG_Status": 6}, False),  # by its halt file
        ({"PYDAGMAN_HaltedByCommand": None, "DAG_Status": 6}, True),  # stock DAGMan was halted
    ],
)
def test_whether_an_earlier_dagman_was_halted(
    own_ad: dict[str, object], halted: bool | None
) -> None:
    assert was_halted(own_ad) is halted


@pytest.mark.parametrize("command", [1, 2, 3, 1.0, 2.9, True])
def test_commands_become_inputs(command: cedar.Value) -> None:
    assert refused(ad(Secret=SECRET, DagCommand=command), SECRET) is None


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"DagCommand": 1}, Halt()),
        ({"DagCommand": 1.0, "HaltReason": "tea"}, Halt("tea")),
        ({"DagCommand": 1, "HaltReason": 5}, Halt()),
        ({"DagCommand": 1, "HaltReason": 'a\tb\\c"d\né'}, Halt('a b\\c"d\\x0aé')),
        ({"DagCommand": 1, "HaltReason": "x" * 5000}, Halt("x" * 1000 + "...")),
        ({"DagCommand": 1, "IsPause": True, "HaltReason": "p"}, Halt("p", pause=True)),
        ({"DagCommand": 1, "IsPause": False}, Halt()),
        ({"DagCommand": 1, "IsPause": 1}, Halt(pause=True)),
        ({"DagCommand": 1, "IsPause": 0}, Halt()),
        ({"DagCommand": 1, "IsPause": "true"}, Halt()),
        ({"DagCommand": 2}, Resume()),
        ({"DagCommand": 3}, LimitsWanted()),
        ({"DagCommand": 3, "DAGMan_MaxJobs": 7}, LimitsWanted(jobs=7)),
        (
            {"DagCommand": 3, "DAGMan_MaxJobs": -7, "DAGMan_MaxIdle": 99999999999},
            LimitsWanted(jobs=0, idle=2**31 - 1),
        ),
        (
            {
                "DagCommand": 3,
                "DAGMan_MaxPreScripts": 1,
                "DAGMan_MaxPostScripts": 2,
                "DAGMan_MaxHoldScripts": 3,
                "DAGMan_MaxSubmitsPerInterval": 4,
            },
            LimitsWanted(pre=1, post=2, hold=3, submits=4),
        ),
        ({"DagCommand": 3, "DAGMan_MaxIdle": 1e3}, LimitsWanted(idle=1000)),
        ({"DagCommand": 3, "DAGMan_MaxIdle": 1e300}, LimitsWanted(idle=2**31 - 1)),
        ({"DagCommand": 3, "DAGMan_MaxIdle": "3"}, LimitsWanted()),
        ({"DagCommand": 3, "DAGMan_MaxIdle": True}, LimitsWanted(idle=1)),
    ],
)
def test_requests(attributes: dict[str, cedar.Value], wanted: inputs.Input) -> None:
    assert parsed_command(ad(**attributes)) == wanted


class _Request:
    def __init__(self) -> None:
        self.answers: list[dict[str, cedar.Value]] = []

    def reply(self, answer: dict[str, cedar.Value]) -> None:
        self.answers.append(answer)


class _Halted:
    """A run whose DAG a client halts; the schedd answers when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0
        self.edits: list[Callable[[PoolError | None], None]] = []
        report = SimpleNamespace(halts=Halts(by_command=True))
        run: Any = SimpleNamespace(
            contact=None,
            clock=SimpleNamespace(monotonic=lambda: self.now),
            engine=SimpleNamespace(report=lambda: report),
            job_ad=SimpleNamespace(edit=lambda changes, done: self.edits.append(done)),
            out=SimpleNamespace(say=lambda *_: None),
        )
        self.control, self.request = Control(run), _Request()
        socket: Any = SimpleNamespace(next_deadline=lambda: None, work=lambda say: [])
        self.control._socket = socket
        halt = Halt()
        asked: Any = (halt, self.request)
        self.control._requests.append(asked)
        self.control.input_handled(halt)


def test_a_client_is_answered_when_the_job_ad_says_so() -> None:
    bench = _Halted()
    assert not bench.request.answers
    assert bench.control.rests is False
    bench.edits[0](None)
    assert bench.request.answers == [{"Result": True, "Trusted": True}]
    bench.now += 2 * REPLY_TIMEOUT_S
    bench.control.read_requests()
    assert len(bench.request.answers) == 1
    assert bench.control.next_deadline() is None


def test_a_client_is_answered_though_the_schedd_hangs() -> None:
    bench = _Halted()
    assert bench.control.next_deadline() == bench.now + REPLY_TIMEOUT_S
    bench.control.read_requests()
    assert not bench.request.answers
    bench.now += REPLY_TIMEOUT_S
    bench.control.read_requests()
    assert bench.request.answers == [{"Result": True, "Trusted": True}]
    bench.edits[0](None)
    assert len(bench.request.answers) == 1
