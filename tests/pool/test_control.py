"""Stock clients tell a running DAG to halt, to resume and to change its throttles; secrets stay
where they belong.

The clients are HTCondor's own: `htcondor dag ...` and what `htcondor2.DAGMan` is made of.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from typing import Any

from tests.pool.bindings import need_htcondor_cli
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
HALTED = 6  # DAG_Status
HTCONDOR = "import sys; from htcondor_cli.cli import main; sys.exit(main())"
# Asks what the arguments say, each a ClassAd as JSON; prints the answers, and the secret.
CLIENT = """\
import json, sys, time
import classad2, htcondor2
from htcondor2.htcondor2_impl import _send_generic_payload_command

for _ in range(6000):
    contact = htcondor2.Schedd()._get_dag_contact_info(int(sys.argv[1]))
    if "Secret" in contact:
        break
    time.sleep(0.1)  # DAGMan's job ad is edited while the first nodes run
if "Secret" not in contact:
    sys.exit(contact.get("ErrorString"))
answers = []
for asked in map(json.loads, sys.argv[2:]):
    if asked.pop("trusted", True):
        asked["Secret"] = contact["Secret"]
    ad = classad2.ClassAd(asked)
    answer, failed, error = _send_generic_payload_command(contact["Address"], 61500, ad._handle)
    answers.append({"failed": error} if failed else dict(answer))
print(json.dumps([contact["Secret"], answers]))
"""
PAIR = "JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\n"
SECRETS: dict[int, list[str]] = {}  # that clients were told, by DAGMan job
CROWD = "".join(f"JOB N{n} told.sub\n" for n in range(6))
INSISTING = {
    f"_CONDOR_SEC_CLIENT_{what}": "REQUIRED"
    for what in ("AUTHENTICATION", "ENCRYPTION", "INTEGRITY")
}

OPEN = {
    "_CONDOR_SEC_CLIENT_AUTHENTICATION": "OPTIONAL",
    "_CONDOR_SEC_CLIENT_NEGOTIATION": "NEVER",
}


def htcondor(s: Scene, verb: str, *words: str, **environment: str) -> tuple[int, str]:
    """`htcondor dag VERB ID WORDS...`: exit code and what it says."""
    need_htcondor_cli()
    argv = [sys.executable, "-c", HTCONDOR, "dag", verb, str(s.cluster), *words]
    done = s.access_point.run(*argv, cwd=s.work, check=False, environment=environment)
    return done.returncode, done.stdout + done.stderr


def obeyed(s: Scene, verb: str, *words: str) -> None:
    """`htcondor dag VERB ID WORDS...` is successful."""
    code, text = htcondor(s, verb, *words)
    assert code == 0, text


def ask(s: Scene, *requests: dict[str, Any], **environment: str) -> list[dict[str, Any]]:
    """Send requests as the bindings do; returns the answers."""
    argv = [sys.executable, "-c", CLIENT, str(s.cluster), *map(json.dumps, requests)]
    done = s.access_point.run(*argv, cwd=s.work, environment=environment)
    secret, answers = json.loads(done.stdout)
    SECRETS[s.cluster] = [secret, secret.rpartition("]")[2]]
    assert not tellers(s, *SECRETS[s.cluster])
    return list(answers)


def tellers(s: Scene, *secrets: str) -> list[str]:
    """The files of a DAG that hold a secret."""
    texts = {}
    for path in s.work.rglob("*"):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # some come and go
            texts[str(path)] = path.read_bytes().decode("utf-8", "replace")
    return [f"{name}: {word}" for name, text in texts.items() for word in secrets if word in text]


@STAGE.scene
def halt_and_resume(s: Scene) -> None:
    s.submit(PAIR + "JOB C told.sub\n", started="A 0")
    obeyed(s, "halt", "--reason", "tea time")
    s.has(DAG_Status=HALTED)
    s.says("Halting DAGMan progess...")
    s.says("Halt reason: tea time")
    s.touch("go.A")
    s.has(DAG_Status=HALTED, DAG_NodesDone=1)
    obeyed(s, "halt")
    s.says("DAGMan is already halted")
    s.settled()
    assert not s.submissions()["B"]
    obeyed(s, "resume")
    s.has(DAG_Status=0)
    s.says("Resuming DAG progress...")
    s.ran("B 0")
    s.touch("go.C")
    assert s.ends() == 0


@STAGE.scene
def throttle(s: Scene) -> None:
    s.submit(CROWD, "-maxjobs", "1", "-insert_env", "_CONDOR_DAGMAN_MAX_JOBS_SUBMITTED=4")
    s.started("N0 0")
    code, text = htcondor(s, "throttle", "--nodes", "3", "--idle", "7", "--pre", "5")
    assert code == 0, text
    assert re.search(r"nodes\D+3\b", text, re.I), text
    s.started("N2 0")
    s.settled()
    assert sum(s.submissions().values()) == 3
    s.has(DAGMan_MaxJobs=3, DAGMan_MaxIdle=7, DAGMan_MaxPreScripts=5)
    (above,) = ask(s, {"DagCommand": 3, "DAGMan_MaxJobs": 99, "DAGMan_MaxPostScripts": 2})
    assert above["DAGMan_MaxJobs"] == 4
    assert (above["DAGMan_MaxIdle"], above["DAGMan_MaxPostScripts"]) == (7, 2)
    s.says("Maximum Submitted Nodes-------: 4")
    s.started("N3 0")
    s.has(DAGMan_MaxJobs=4, DAGMan_MaxPostScripts=2)  # each attribute is an edit of its own
    s.restart()
    # Until the new address is in the job ad, clients ask where the killed DAGMan has listened.
    (after,) = s.until(lambda: [a for a in ask(s, {"DagCommand": 3}) if "Result" in a], "an answer")
    assert {name: after[name] for name in above} == above
    assert htcondor(s, "throttle")[0] != 0  # says nothing to do
    s.touch(*(f"go.N{n}" for n in range(6)))
    assert s.ends() == 0


@STAGE.by_both
def submits_in_an_interval(s: Scene) -> list[object]:
    """What a client asks for, up to the administrator's value, and what is published; after a
    restart too."""
    name = "DAGMan_MaxSubmitsPerInterval"
    s.submit(PAIR, started="A 0")
    answers = ask(s, *({"DagCommand": 3, name: number} for number in (50, 200, 0, 60)))
    s.has(**{name: 60})
    answers += ask(s, {"DagCommand": 3, name: 0})
    s.has(**{name: 100})
    s.hold()
    s.release()
    answers += ask(s, {"DagCommand": 3, "DAGMan_MaxIdle": 5})
    s.has(**{name: 100})
    s.touch("go.A")
    assert s.ends() == 0
    lines = re.findall(r"setting: 100$|\tMaximum Submits Per .*", s.out(), re.M)
    return [[answer[name] for answer in answers], lines]


@STAGE.scene
def a_halt_outlives_dagman(s: Scene) -> None:
    s.submit(PAIR + "JOB C told.sub\n", started="A 0")
    ask(s, {"DagCommand": 1, "HaltReason": "overnight"})
    s.has(PYDAGMAN_HaltedByCommand=True)
    s.kill()
    s.says("Restoring halted state")
    s.touch("go.A")
    s.has(DAG_Status=HALTED, DAG_NodesDone=1)
    s.settled()
    assert not s.submissions()["B"]
    s.touch("t.dag.halt")
    s.says("t.dag.halt is there")
    # Until the new address is in the job ad, clients ask where the killed DAGMan has listened.
    found = lambda: [a for a in ask(s, {"DagCommand": 2}) if "Result" in a]  # noqa: E731
    (answer,) = s.until(found, "an answer")
    assert answer["Result"] is False
    assert "t.dag.halt" in answer["ErrorString"]
    (s.work / "t.dag.halt").unlink()
    s.ran("B 0")
    s.touch("go.C")
    assert s.ends() == 0


@STAGE.scene
def clients_that_insist_and_clients_that_do_not_negotiate(s: Scene) -> None:
    s.submit(PAIR, started="A 0")
    for environment in (INSISTING, OPEN):
        for verb in ("halt", "resume"):
            code, text = htcondor(s, verb, **environment)
            assert code == 0, text
    only = {"_CONDOR_SEC_CLIENT_CRYPTO_METHODS": "3DES", **INSISTING}
    code, text = htcondor(s, "halt", **only)
    assert code != 0, text
    assert s.out().count("Halting DAGMan progess...") == 2
    s.touch("go.A")
    assert s.ends() == 0


@STAGE.scene
def a_secret_reaches_no_file_and_no_ad(s: Scene) -> None:
    """Not by a job or a sub-DAG that copies the environment, a script that prints it, a CONFIG
    file, or the most talkative log."""
    s.write(
        "CONFIG own.config\nJOB A copy.sub\nSUBDAG EXTERNAL S inner.dag\nPARENT A CHILD S\n"
        "SCRIPT DEBUG environment.out ALL PRE A /usr/bin/env\n"
    )
    (s.work / "own.config").write_text(
        "SEC_PASSWORD_OF_MINE = open-sesame\nDAGMAN_MAX_JOBS_IDLE=9\n"
    )
    (s.work / "inner.dag").write_text("JOB I copy.sub NOOP\n")
    (s.work / "copy.sub").write_text("getenv = True\n" + s.text("told.sub"))
    s.submit_again("-debug", "7", "-import_env")
    s.started("A 0")
    (ad,) = s.access_point.queue(f"ClusterId == {s.job('A')}")
    assert "_CONDOR_DAGMAN_LOG" in ad["Environment"]  # it has been copied
    assert "SECURITY_SESSION" not in ad["Environment"]
    ask(s, {"DagCommand": 3})
    ads = str(s.access_point.queue(f"ClusterId == {s.cluster} || DAGManJobId == {s.cluster}"))
    assert not [word for word in SECRETS[s.cluster] if word in ads]
    assert "open-sesame" not in ads
    s.touch("go.A")
    assert s.ends() == 0
    assert "_CONDOR_DAGMAN_LOG" in s.text("environment.out")
    assert not tellers(s, *SECRETS[s.cluster], "SECURITY_SESSION")
    (s.work / "own.config").unlink()
    assert not tellers(s, "open-sesame")


@STAGE.scene
def no_port(s: Scene) -> None:
    s.write('SET_JOB_ATTR DAG_Address = "<127.0.0.1:1?noUDP>"\n' + PAIR)  # an earlier DAGMan's
    environment = {"_CONDOR_DAGMAN_DISABLE_PORT": "true"}
    done = s.access_point.run("condor_submit_dag", "t.dag", cwd=s.work, environment=environment)
    s.cluster = int(re.findall(r"submitted to cluster (\d+)", done.stdout)[0])
    s.started("A 0")
    s.until(lambda: "127" not in str(s.ad().get("DAG_Address")), "no address in the ad")
    code, text = htcondor(s, "halt")
    assert code != 0
    assert "Job does not have a contact address" in text
    s.touch("go.A")
    assert s.ends() == 0


TRUSTED: list[dict[str, Any]] = [
    {"DagCommand": 0},
    {"DagCommand": "halt"},
    {"DagCommand": 1.0},
    {"DagCommand": 1, "HaltReason": 'a\tb\\c"d'},
    {"DagCommand": 1, "IsPause": True, "HaltReason": "p"},
    {"DagCommand": 1, "IsPause": True},
    {"DagCommand": 2},
    {"DagCommand": 2},
    {"DagCommand": 1, "IsPause": "true"},
    {"DagCommand": 2},
    {"DagCommand": 3, "DAGMan_MaxSubmitsPerInterval": 50},
    {"DagCommand": 3, "DAGMan_MaxJobs": 7, "DAGMan_MaxIdle": -1},
    {"DagCommand": 3, "DAGMan_MaxIdle": 10**8, "DAGMan_MaxPreScripts": 99},
    {"DagCommand": 3, "DAGMan_MaxPostScripts": 0, "DAGMan_MaxHoldScripts": 5},
    {"DagCommand": 3, "DAGMan_MaxIdle": 1e3},
    {"DagCommand": 3, "DAGMan_MaxIdle": "3"},
    {"DagCommand": 3, "DAGMan_MaxIdle": True},
]


@STAGE.by_both
def answers_and_words(s: Scene) -> tuple[list[dict[str, Any]], list[str]]:
    untrusted = [{**request, "trusted": False} for request in TRUSTED[:2]]
    s.submit(PAIR, started="A 0")
    answers = ask(s, *untrusted, *TRUSTED)
    lines = [line.partition(" ")[2][9:] for line in s.out().splitlines()]
    said = re.compile("Halt|DAGMan is|DAG (Un-)?Pause|Resum|Pause")
    words = [line.replace("\t", " ") for line in lines if said.match(line)]
    s.touch("go.A")
    assert s.ends() == 0
    return answers, words


test_control = STAGE.tests()


test_as_stock = STAGE.beside_stock()
