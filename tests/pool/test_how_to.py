"""The tutorial and the pages of docs/how-to on a real pool: their files are written, their commands
typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import pages
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.conftest import running_pool
from tests.servers import apptainer, messages
from tests.waiting import until

AGAIN = "ask again until"  # so a person is told before a command that may have to be repeated


def page(name: str) -> str:
    return (pages.DOCS / "how-to" / f"{name}.md").read_text(encoding="utf-8")


def write(text: str, work: Path) -> None:
    """Write the files of a page, also those below directories, for the pool's user to change."""
    pages.write_files(text, work)
    for path in work.rglob("*"):
        path.chmod(0o777 if path.is_dir() or path.stat().st_mode & 0o111 else 0o666)


def type_in(text: str, access_point: AccessPoint, work: Path) -> None:
    """Run the commands of a page as a person would, and compare what they print."""
    for step in pages.steps(text):
        if not step.command.startswith("condor_pydagman pool "):  # the test has started one
            type_step(step, access_point, work, may_repeat=AGAIN in said_before(text, step))


def said_before(text: str, step: pages.Step) -> str:
    """The paragraph before the block of a command."""
    before, _, _ = "\n".join(text.splitlines()[: step.line]).rpartition("```console")
    return before.rstrip().rpartition("\n\n")[2]


def type_step(step: pages.Step, access_point: AccessPoint, work: Path, *, may_repeat: bool) -> None:
    def printed() -> str:
        shell = ("sh", "-c", f"exec 2>&1; {step.command}")
        return access_point.run(*shell, cwd=work, check=False).stdout

    if may_repeat:
        said = lambda: pages.agrees(step.output, printed())  # noqa: E731
        until(said, step.command, story=printed, pause_s=0.5)
        return
    once = printed()
    assert pages.agrees(step.output, once), (
        f"line {step.line}: $ {step.command}\n{once}--- but the page says\n{step.output}"
    )


def test_the_tutorial(access_point: AccessPoint, work: Path) -> None:
    text = (pages.DOCS / "tutorial.md").read_text(encoding="utf-8")
    write(text, work)
    type_in(text, access_point, work)


@pytest.mark.parametrize("name", ["no-shared-file-system", "python", "nightly-runs", "moving-here"])
def test_page(access_point: AccessPoint, work: Path, name: str) -> None:
    write(page(name), work)
    type_in(page(name), access_point, work)


def test_a_nightly_run_begins_by_itself(access_point: AccessPoint, work: Path) -> None:
    """Here each minute is a night."""
    text = page("nightly-runs")
    for line in ("cron_hour      = 2", "cron_minute    = 0"):
        assert line in text
        text = text.replace(line, f"{line[:-1]}*")
    write(text, work)
    access_point.run("condor_submit", "start.sub", cwd=work)
    logs = until(lambda: list(work.glob("runs/*/night.dag.dagman.log")), "a run", pause_s=0.5)
    assert access_point.wait(logs[0].with_suffix("").with_suffix("")).code == 0
    (job,) = access_point.queue(f'Cmd == "{work}/start.sh"')
    assert job["NumJobStarts"] >= 1
    access_point.run("condor_rm", str(job["ClusterId"]))


def test_a_pool_without_containers(access_point: AccessPoint, work: Path) -> None:
    """explain says what the page says."""
    text = page("containers")
    (shown,) = (block.text for block in pages.blocks(text) if "HasSIF.\n" in block.text)
    write(text, work)
    (work / "analysis.sif").write_bytes(b"SIF")
    cluster = access_point.submit(work, "my.dag")

    def said() -> str:
        return access_point.run(
            "condor_pydagman", "explain", "my.dag", cwd=work, check=False
        ).stdout

    until(lambda: pages.agrees(f"...{shown}...", said()), shown, story=said, pause_s=0.5)
    access_point.run("condor_rm", str(cluster))


def test_messages(access_point: AccessPoint, work: Path) -> None:
    """What the page sends to Slack, Matrix and a mail server goes to servers of the test."""
    text = page("messages")
    sentences = shown_messages(text)
    with messages.running() as kept:
        url = f"http://127.0.0.1:{kept.http_port}"
        for service in ("https://hooks.slack.com", "https://matrix.example.org"):
            text = text.replace(service, url)
        text = text.replace('"localhost", "port": 25', f'"127.0.0.1", "port": {kept.smtp_port}')
        type_in(text, access_point, users_own(text, access_point, work))
        until(lambda: kept.mails, "the mail")
        by_hand = ["test.dag has succeeded", sentences[-1]]
        until(lambda: len(to_slack(kept)) == len(sentences + by_hand), "all messages to Slack")
        until(lambda: len(to_matrix(kept)) == len(sentences), "all messages to Matrix")
    (mail,) = kept.mails
    assert f"Subject: {sentences[-1]}" in mail
    assert sorted(to_slack(kept)) == sorted(by_hand + sentences)
    assert [request.body["body"] for request in to_matrix(kept)] == sentences
    assert {request.token for request in to_matrix(kept)} == {"Bearer XXXX"}
    room = "/_matrix/client/v3/rooms/%21abc%3Aexample.org/send/m.room.message/"
    assert all(request.path.startswith(room) for request in to_matrix(kept))
    assert len({request.path for request in to_matrix(kept)}) == len(sentences)


@pytest.mark.skipif(not apptainer.available(), reason="needs apt-get and namespaces of users")
def test_containers(place: Path, work: Path) -> None:
    prefix = apptainer.fetched()
    with running_pool(place / "containers", apptainer.knobs(prefix)) as pool:
        access_point = AccessPoint(pool)
        text = page("containers")
        write(text, work)
        for name in ("analysis", "plots"):
            apptainer.build(prefix, pool, work / f"{name}.sif", f"image for {name}")
        until(lambda: access_point.run("condor_status", "-af", "HasContainer").stdout, "a slot")
        type_in(text, access_point, work)


def test_several_access_points(access_point: AccessPoint, place: Path, work: Path) -> None:
    """With a second personal pool; a copy of a directory is made as the page's rsync makes it."""
    with running_pool(place / "second_access_point") as pool:
        second = AccessPoint(pool)
        there = second.run("condor_status", "-schedd", "-af", "Name").stdout.strip()
        there += " " + second.run("condor_status", "-collector", "-af", "MyAddress").stdout.strip()
        text = page("several-access-points").replace("ap2.example.org cm2.example.org", there)
        first, _, rest = text.partition("On the second access point:")
        moved, _, rest = rest.partition("\n## ")
        write(text, work)
        type_in(first, access_point, work)
        copy = new_directory(place / "moved")
        left = [f"--exclude={pattern}" for pattern in re.findall(r"--exclude '(\S+)'", text)]
        assert left
        access_point.run("sh", "-c", 'tar c "$@" . | tar x -C "$0"', str(copy), *left, cwd=work)
        assert (copy / "move.dag.rescue001").exists()
        assert not list(copy.glob("move.dag.*.log"))
        type_in(moved, second, copy)
        type_in(rest, access_point, work)


def users_own(text: str, access_point: AccessPoint, work: Path) -> Path:
    """A directory with the files of a page, which belong to the pool's user."""
    write(text, work)
    access_point.run("sh", "-c", "mkdir own; cp -R $(ls | grep -vx own) own", cwd=work)
    return work / "own"


def shown_messages(text: str) -> list[str]:
    """The messages that the page shows."""
    return text.partition("The messages are:\n\n```text\n")[2].partition("```")[0].splitlines()


def to_slack(kept: messages.Kept) -> list[str]:
    found = [request for request in kept.requests if request.path == "/services/T0000/B0000/XXXX"]
    return [line for request in found for line in request.body["text"].splitlines()]


def to_matrix(kept: messages.Kept) -> list[messages.Request]:
    return [request for request in kept.requests if request.method == "PUT"]
