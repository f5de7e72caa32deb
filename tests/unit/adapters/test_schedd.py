"""What needs no schedd in the schedd's adapter: what refusals mean, and where submits happen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import classad2
import htcondor2
import pytest
from pytest_mock import MockerFixture

from condor_pydagman.adapters import descriptions, job_history, schedd
from condor_pydagman.adapters.job_history import Patience
from condor_pydagman.adapters.ownership import Identity, Owners
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_requests import LostReply, QueueFull
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.records.own_ad import begun_anew
from condor_pydagman.vocabulary import HELD_BY_DAGMAN, RETURN_JOB_ABORTED

# Nothing can have reached the queue, and the next try may do better.
NOT_THERE = (
    "Failed to connect to schedd.",
    "Unable to locate local daemon",
    "Failed to create new cluster.",
    "SECMAN:2007:Failed to end classad message.",
    "AUTHENTICATE:1003:Failed to authenticate with any method",
    "expected next ProcId to be 1, but Schedd says -1",
)
# The schedd may have taken it.
PERHAPS = (
    "Failed to commit and disconnect from queue.",
    "Failed to commit transaction",
    "Unable to commit transaction,",
    "Unable to commit transaction, SCHEDD:0:a warning, as the requirement is one only",
    "Unable to commit transaction, CEDAR:6001:the connection broke off",
    "words that nobody has ever seen",
    "",
)
# The schedd refuses it for good.
REFUSED = (
    "Unable to commit transaction, SCHEDD:2:jobs that are bad are not taken here",
    "Unable to commit transaction, SCHEDD:2:Submit requirement E evaluated to non-boolean.",
    'Unable to commit transaction, SCHEDD:2:Setting job owner to "root" is not permitted',
    "Unable to commit transaction, SCHEDD:-1:no",
)
# A description that will never do.
WRONG = (
    "Failed to create job ad, errmsg=Submit:-1:Parse error in expression: requirements = (",
    "ERROR: No 'executable' parameter was provided",
    "can't open submit file",
)


@pytest.mark.parametrize("text", [*NOT_THERE, *PERHAPS, *REFUSED, *WRONG])
def test_what_the_bindings_say_when_a_submission_fails(text: str) -> None:
    error = schedd._submit_error(RuntimeError(text))
    assert error.transient is (text in (*NOT_THERE, *PERHAPS))
    assert isinstance(error, LostReply) is (text in PERHAPS)
    assert error.reason == text or text in (*PERHAPS, *WRONG)


def test_arguments_that_python_refuses_will_never_do() -> None:
    assert not schedd._submit_error(ValueError("whatever")).transient


@pytest.mark.parametrize(
    ("number", "knob", "transient"),
    [
        (-2, "MAX_JOBS_SUBMITTED", True),
        (-3, "MAX_JOBS_PER_OWNER", True),
        (-4, "MAX_JOBS_PER_SUBMISSION", False),
    ],
)
def test_more_jobs_than_the_schedd_takes(number: int, knob: str, transient: bool) -> None:
    text = f"expected next ProcId to be 2, but Schedd says {number}"
    description = htcondor2.Submit("executable = x\nqueue 3\n")
    error = schedd._submit_error(RuntimeError(text), description)
    assert error.transient == transient
    assert not isinstance(error, LostReply)
    assert error.reason == f"more jobs than the schedd's {knob} allows: {text}"
    assert isinstance(error, QueueFull) == transient


def test_a_full_queue_that_takes_no_cluster() -> None:
    """As 25.14.1 says it of MAX_JOBS_SUBMITTED."""
    text = "Failed to create new cluster.SCHEDD:22:MAX_JOBS_SUBMITTED exceeded. Current=3, Limit=3"
    error = schedd._submit_error(RuntimeError(text), htcondor2.Submit("executable = x\nqueue\n"))
    assert isinstance(error, QueueFull)
    assert error.reason == f"more jobs than the schedd's MAX_JOBS_SUBMITTED allows: {text}"


def test_a_node_that_has_alone_more_jobs_than_the_queue_can_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedd, "lookup", {"MAX_JOBS_PER_OWNER": "3"}.get)
    refused = RuntimeError("expected next ProcId to be 1, but Schedd says -3")
    for jobs, dagman, waits in ((3, 0, True), (4, 0, False), (2, 7, True), (3, 7, False)):
        description = htcondor2.Submit(f"executable = x\nqueue {jobs}\n")
        error = schedd._submit_error(refused, description, dagman)
        assert isinstance(error, QueueFull) == error.transient == waits
    assert error.reason.startswith("a node of more jobs than the schedd's MAX_JOBS_PER_OWNER")
    assert error.reason.endswith("; the limit is 3")


OURS = "dag_node_name = A\ndagman_log = t.dag.nodes.log\nMy.DAGManJobId = 7\n"


@pytest.mark.parametrize(
    ("text", "cluster", "missing"),
    [
        (f"iterate\n{OURS}", 7, "the name of its node, the nodes log, DAGMan's id"),
        (OURS.replace("= A", "="), 7, "the name of its node"),
        (OURS.replace("t.dag.nodes.log", ""), 0, "the nodes log"),
        (OURS, 8, "DAGMan's id"),
    ],
)
def test_jobs_that_dagman_would_not_hear_of(
    text: str, cluster: int, missing: str, tmp_path: Path
) -> None:
    adapter = ScheddAdapter(cluster)
    with pytest.raises(PoolError, match=f"would not have {missing}, so") as caught:
        adapter.submit(f"executable = /bin/true\n{text}queue\n", str(tmp_path))
    assert not caught.value.transient


def test_work_in_a_nodes_directory_ends_where_it_began(tmp_path: Path) -> None:
    home = os.getcwd()
    with pytest.raises(ZeroDivisionError), schedd._node_directory(str(tmp_path)):
        assert os.getcwd() == str(tmp_path)
        raise ZeroDivisionError
    assert os.getcwd() == home


def test_what_is_not_utf_8_is_named(tmp_path: Path) -> None:
    text = "executable = a\narguments = caf\udce9\nqueue"
    with pytest.raises(PoolError, match=r"not UTF-8: arguments = caf\\xe9$") as caught:
        ScheddAdapter(0).submit(text, str(tmp_path))
    assert not caught.value.transient


def test_a_nodes_directory_that_is_not_there(tmp_path: Path) -> None:
    home = os.getcwd()
    with pytest.raises(PoolError, match=r"directory .*/nosuch: No such file"):
        ScheddAdapter(0).submit("executable = a\nqueue", str(tmp_path / "nosuch"))
    assert os.getcwd() == home


def test_a_dagman_without_a_job_asks_and_tells_nothing() -> None:
    adapter = ScheddAdapter(0)
    assert adapter.own_ad() == {}
    adapter.publish({"DAG_Status": "0"})
    adapter.hold(0, 0, "why")


@pytest.mark.parametrize("found", [False, True])
def test_a_schedd_that_is_away_may_come_back(found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise htcondor2.HTCondorException("away")

    monkeypatch.setattr(
        htcondor2, "Schedd", (lambda: SimpleNamespace(query=fail)) if found else fail
    )
    with pytest.raises(
        PoolError, match="away" if found else "can't locate the schedd: away"
    ) as caught:
        ScheddAdapter(7).own_ad()
    assert caught.value.transient


def test_what_is_undefined_in_the_own_ad_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """PYDAGMAN_Ended is, after a run that began anew: the next DAGMan must not begin once more."""
    ad = classad2.ClassAd("[ PYDAGMAN_Ended = undefined; PYDAGMAN_BegunAnew = 1000 ]")
    adapter = ScheddAdapter(5)
    monkeypatch.setattr(adapter, "_ad", lambda *_: ad)
    own = adapter.own_ad()
    assert own["PYDAGMAN_Ended"] is None
    assert begun_anew({**own, "JobRunCount": 3}, 2000.0, recovers=True) == {}


@pytest.mark.parametrize(
    ("leaves", "value"),
    [
        ("ExitCode >= 0 && ExitCode <= 2", True),
        ("ExitBySignal", False),
        ("JobRunCount > 1", None),  # it was 1 when the job ended
    ],
)
def test_whether_the_job_was_to_leave_is_asked_of_its_end(
    leaves: str, value: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = "ExitCode = 1; ExitBySignal = false; JobRunCount = 2"
    ad = classad2.ClassAd(f"[ {end}; OnExitRemove = {leaves} ]")
    adapter = ScheddAdapter(5)
    monkeypatch.setattr(adapter, "_ad", lambda *_: ad)
    assert adapter.own_ad()["OnExitRemove"] is value


def test_a_reason_is_one_line() -> None:
    assert descriptions.reason_of(RuntimeError("a\n  b\t c \n")) == "a b c"
    assert descriptions.reason_of(RuntimeError("")) == "RuntimeError"


@pytest.mark.parametrize(
    ("line", "late"),
    [
        ("max_materialize = 3", True),
        ("MAX_IDLE = 3", True),
        ("materialize_max_idle = $(n)", True),
        ("max_materialize =", False),
        ("# max_materialize = 3", False),
        ("max_retries = 3", False),
    ],
)
def test_late_materialization_is_seen_in_the_description(line: str, late: bool) -> None:
    description = descriptions.parse(f"executable = a\n{line}\nqueue\n")
    assert descriptions.materializes_late(description) is late


def test_a_dagman_without_a_job_has_nothing_to_inherit() -> None:
    adapter = ScheddAdapter(0)
    assert adapter.own_expressions(["Foo"]) == {}
    assert adapter.own_ad() == {}


def test_the_secret_is_not_in_the_environment_that_a_job_may_copy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[str | None] = []

    class Schedd:
        def submit(self, description: Any) -> Any:
            seen.append(os.environ.get("CONDOR_SECURITY_SESSION"))
            raise htcondor2.HTCondorException("Failed to connect")

    monkeypatch.setenv("CONDOR_SECURITY_SESSION", "secret")
    adapter = ScheddAdapter(7)
    adapter._schedd = Schedd()
    with pytest.raises(PoolError):
        adapter.submit(f"{OURS}executable = /bin/true\ngetenv = true\nqueue", str(tmp_path))
    assert seen == [None]
    assert os.environ["CONDOR_SECURITY_SESSION"] == "secret"  # it is wanted for the command socket


class _Description:
    """A submit description of the bindings, whose credentials make trouble."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def issue_credentials(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_credentials() -> None:
    schedd._issue_credentials(_Description(None))
    with pytest.raises(PoolError, match="Failed to produce job credentials: no credd") as caught:
        schedd._issue_credentials(_Description(htcondor2.HTCondorException("no credd")))
    assert not caught.value.transient
    with pytest.raises(PoolError, match="Please visit: https://x/y") as caught:
        schedd._issue_credentials(_Description("https://x/y"))
    assert caught.value.transient


class NoHistory:
    """A schedd that says no more than why it does not tell of its history."""

    def __init__(self, *reasons: str) -> None:
        self._reasons = iter(reasons)
        self._reason = ""

    def query(self, *_: object, **__: object) -> list[dict[str, object]]:
        self._reason = next(self._reasons)
        return []

    def history(self, *_: object, **__: object) -> list[dict[str, object]]:
        if self._reason:
            raise htcondor2.HTCondorException(self._reason)
        return []


def refusals(*reasons: str) -> list[str]:
    """What comes of asking for the history as often as there are reasons ('': it is given)."""
    adapter, side, patience, answers = ScheddAdapter(7), NoHistory(*reasons), Patience(), []
    adapter._ownership._known = Owners([Identity("ann", "ann@here")])
    for _ in reasons:
        adapter._schedd = side
        found: list[EndedJob] | PoolError
        try:
            found = adapter.ended_jobs()
        except PoolError as error:
            found = error
        verdict = patience.judge(found)
        words = {str: "warned", PoolError: "raised", list: "well"}
        answers.append(words[type(verdict)])
    return answers


def test_a_history_that_cannot_be_had_now_is_asked_for_again_some_times() -> None:
    passing = "Failed to receive history ad."
    assert refusals(*[passing] * 6) == ["raised"] * 4 + ["warned"] * 2
    assert refusals(passing, "", *[passing] * 4) == ["raised", "well"] + ["raised"] * 4


@pytest.mark.parametrize(
    "reason",
    [
        "HISTORY undefined in remote configuration. No such related history to be queried.",
        "Remote history has been disabled on this schedd",
        'SECMAN:2010:Received "DENIED" from server for user a@b using method FS.',
    ],
)
def test_a_history_that_an_administrator_has_forbidden_is_done_without(reason: str) -> None:
    assert refusals(reason) == ["warned"]


@pytest.mark.parametrize(
    ("status", "manager", "node", "leaving"),
    [
        (2, 7, "A", False),
        (3, 7, "A", True),
        (2, 5, "A", False),  # of the DAGMan before, whose run is recovered
        (3, 5, "", True),  # removed with it: not the present run's
    ],
)
def test_a_job_of_an_earlier_dagman_that_is_leaving_counts_for_no_node(
    status: int, manager: int, node: str, leaving: bool
) -> None:
    ad = {"ClusterId": 9, "ProcId": 0, "DAGNodeName": "A", "DAGManNodeRetry": 1}
    job = ScheddAdapter(7)._queued({**ad, "JobStatus": status, "DAGManJobId": manager})
    assert job == QueuedJob(9, 0, node, 1, leaving=leaving)


def test_why_htcondor_has_a_job_on_hold() -> None:
    for status, code, why in ((5, 12, "full"), (5, "undefined", "full"), (5, 1, ""), (2, 12, "")):
        hold = f'JobStatus = {status}; HoldReasonCode = {code}; HoldReason = "full"'
        ad = classad2.ClassAd(f"[ClusterId = 9; ProcId = 0; {hold}]")
        assert schedd._queued_job(ad).hold == why


@pytest.mark.parametrize("retry", ["foo", '"x"', "undefined", "error", "1.5", "true"])
def test_what_a_submit_file_makes_of_the_retry_number_stops_nothing(retry: str) -> None:
    names = 'ClusterId = 9; ProcId = 0; DAGNodeName = "A"'
    ad = classad2.ClassAd(f"[{names}; DAGManNodeRetry = {retry}]")
    assert schedd._queued_job(ad) == QueuedJob(9, 0, "A", 0)
    assert job_history.ended_procs([ad]) == [EndedJob(9, 0, "A", 0, RETURN_JOB_ABORTED)]


@pytest.mark.parametrize(
    "ask, action, reason",
    [
        (lambda one: one.remove("why", 5, proc=1), "Remove", ("why", 0)),
        (lambda one: one.remove("why", 5, force=True), "RemoveX", ("why", 0)),
        (lambda one: one.hold(0, 0, "why"), "Hold", ("why", HELD_BY_DAGMAN)),
        (lambda one: one.hold(5, 0, "why"), "Hold", ("why", 0)),
        (lambda one: one.hold(5, 0, "why", release=True), "Release", "why"),
    ],
)
def test_what_is_done_to_jobs_has_a_reason_and_a_code(
    ask: Callable[[ScheddAdapter], None],
    action: str,
    reason: object,
    mocker: MockerFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = mocker.MagicMock()
    monkeypatch.setattr(htcondor2, "Schedd", lambda: there)
    monkeypatch.setattr(ScheddAdapter, "_removal_constraint", lambda *_: "true")
    ask(ScheddAdapter(7))
    ((acted, _, told), _) = there.act.call_args
    assert (acted, told) == (getattr(htcondor2.JobAction, action), reason)


@pytest.mark.parametrize("count", [1, 2000])
def test_what_a_removal_leaves_out(count: int) -> None:
    """Nothing but those jobs: neither other procs of their clusters nor the ads of clusters."""
    ended = [(5, 2 * proc) for proc in range(count)] + [(7, 1)]
    which = classad2.ExprTree("true" + schedd._exclude(ended))

    def chosen(cluster: int, **proc: int) -> bool:
        return which.eval(classad2.ClassAd({"ClusterId": cluster, **proc})) is True

    assert not chosen(5, ProcId=0)
    assert not chosen(5, ProcId=2 * count - 2)
    assert not chosen(7, ProcId=1)
    assert chosen(5, ProcId=1)
    assert chosen(7, ProcId=0)
    assert chosen(6, ProcId=0)
    assert chosen(5)
    assert schedd._exclude([]) == ""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2", 2),
        ("-1.5", -1.5),
        ('"two"', "two"),
        ("True", True),
        ("1 + 1", 2),
        ("undefined", None),
        ("error", None),
        ('absTime("2020-01-01T00:00:00")', None),
        ("{1, 2}", None),
        ("[a = 1]", None),
    ],
)
def test_an_attribute_is_plain_or_counts_as_missing(
    expression: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job can set any value; one that JSON does not know can't be sent to DAGMan."""
    ad = classad2.ClassAd(f"[ProvisionerState = {expression}]")
    adapter = ScheddAdapter(7)
    monkeypatch.setattr(adapter, "_connect", lambda: None)
    monkeypatch.setattr(adapter._ownership, "owners", lambda _: Owners([Identity("a", "a@b")]))
    monkeypatch.setattr(schedd, "first_proc", lambda *_: ad)
    found = adapter.attribute(41, "ProvisionerState")
    assert (type(found), found) == (type(value), value)
