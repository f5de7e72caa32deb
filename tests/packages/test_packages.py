"""The packages of distributions: what is in them, and a life of theirs beside HTCondor's own in
Debian's newest suite, where an ordinary user runs DAGs.  rpm installs RPMs there as well."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, NoReturn

import pytest

import condor_pydagman
from tests.packages import bootstrap, built, debian_root
from tests.packages.built import DEFAULT, MAIN
from tests.packages.debian_root import USER, DebianRoot
from tests.waiting import until

pytestmark = pytest.mark.long

OURS = "/usr/lib/condor_pydagman/bin"
TRANSFORM = "/usr/share/doc/condor-pydagman/condor_config.d/70-condor-pydagman-default.config"
WAITER = "/condor_pydagman/libexec/condor_dagman"
NEWER = "9.0.0"

# What lintian says of packages that are not for Debian's archive, and of CHANGES.md, to which other
# files refer by this name.
KNOWN_TO_LINTIAN = {"initial-upload-closes-no-bugs", "wrong-name-for-upstream-changelog"}


@pytest.fixture(scope="module")
def making(run_directory: Path) -> Iterator[Callable[[str], Any]]:
    """Gives "deb" and "rpm", the packages; "lintian", what it says of them; "debian", nothing but
    the directory.  All are made at once, and there is only what has no obstacle here."""
    begun: dict[str, Future[Any]] = {}
    with ThreadPoolExecutor() as executor:
        for kind in built.TOOLS:
            if not built.obstacle(kind):
                begun[kind] = executor.submit(built.build, kind, run_directory / kind)
        if not bootstrap.obstacle(*debian_root.PROGRAMS):
            begun["debian"] = executor.submit(bootstrap.make, run_directory / "debian")
        begun["lintian"] = executor.submit(lambda: built.lintian(begun["deb"].result()))
        yield lambda what: begun[what].result()


@pytest.fixture(scope="module")
def debs(making: Callable[[str], Any], skip: Callable[[str, str], NoReturn]) -> dict[str, Path]:
    """The Debian packages, by name."""
    if reason := built.obstacle("deb"):
        skip("NO DEBIAN PACKAGES WERE BUILT", reason)
    packages: dict[str, Path] = making("deb")
    return packages


@pytest.fixture(scope="module")
def rpms(making: Callable[[str], Any], skip: Callable[[str, str], NoReturn]) -> dict[str, Path]:
    """The RPMs, by name."""
    if reason := built.obstacle("rpm"):
        skip("NO RPMS WERE BUILT", reason)
    packages: dict[str, Path] = making("rpm")
    return packages


@pytest.fixture(scope="module")
def root(
    run_directory: Path, making: Callable[[str], Any], skip: Callable[[str, str], NoReturn]
) -> Iterator[DebianRoot]:
    """Debian's newest suite with a pool that runs.

    The pool is not that of a variable which the bindings set when they are loaded on a machine
    without HTCondor, as they are in any test run but one of these tests alone.
    """
    if reason := bootstrap.obstacle(*debian_root.PROGRAMS):
        skip("THE PACKAGES WERE NOT INSTALLED", reason)
    making("debian")
    found = DebianRoot(run_directory / "debian")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CONDOR_CONFIG", os.devnull)
            found.start()
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module", params=["debs", "rpms"])
def packages(request: pytest.FixtureRequest) -> dict[str, Path]:
    """The packages of a kind, by name."""
    found: dict[str, Path] = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def installed(root: DebianRoot, packages: dict[str, Path]) -> Iterator[DebianRoot]:
    """The root with the package, but not that which makes it the default.  A test leaves it so."""
    put(root, packages[MAIN])
    yield root
    take(root, packages[MAIN], MAIN)
    root.run("sh", "-ec", "rm -rf /var/tmp/condor_pydagman-*")  # as the page says
    left = {path for path in root.path.rglob("*pydagman*") if path.parts[-3:-1] != ("home", USER)}
    assert not left


@pytest.fixture(scope="module")
def newer(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as if it were of the version NEWER."""
    kind = packages[MAIN].suffix[1:]
    return built.newer(kind, NEWER, tmp_path_factory.mktemp("newer"))


def put(root: DebianRoot, package: Path) -> None:
    """Install, upgrade or downgrade to a package file."""
    if package.suffix == ".rpm":
        rpm(root, "--upgrade", "--oldpackage", str(package))
        return
    (root.path / "root" / package.name).write_bytes(package.read_bytes())
    root.run("dpkg", "--install", f"/root/{package.name}")
    (root.path / "root" / package.name).unlink()


def take(root: DebianRoot, package: Path, name: str) -> None:
    """Remove a package again."""
    if package.suffix == ".rpm":
        rpm(root, "--erase", name)
    else:
        root.run("dpkg", "--remove", name)


def rpm(root: DebianRoot, *words: str) -> None:
    """Without what RPMs require, which Debian's packages have brought."""
    bootstrap.run("rpm", "--root", str(root.path), "--force-debian", "--nodeps", *words)


def test_the_kinds_hold_the_same(debs: dict[str, Path], rpms: dict[str, Path]) -> None:
    """But for what each distribution has in other places."""
    assert debs.keys() == rpms.keys() == {MAIN, DEFAULT}
    for name in debs:
        deb, rpm = (plain(built.contents(kind[name])) for kind in (debs, rpms))
        assert deb == rpm


def plain(paths: set[str]) -> set[str]:
    """Paths as they would be without the distribution's own ways, what it adds left out."""
    found = {re.sub(r"\.gz$", "", path) for path in paths}
    found = {re.sub(r"/lib/python3[^/]*/(dist|site)-packages", "/SITE", path) for path in found}
    found = {path.replace("/etc/csh/login.d/", "/etc/profile.d/") for path in found}
    own = r"\.egg-info/|__pycache__|/usr/share/licenses/|/doc/.*/(changelog\.Debian|copyright)$"
    return {path for path in found if not re.search(own, path)}


def test_the_waiter_can_be_executed(packages: dict[str, Path]) -> None:
    """It is of one kind of machine, and so is its package."""
    assert sum(WAITER in path for path in built.contents(packages[MAIN], "-rwxr-xr-x")) == 1
    for_any = [name for name in packages if re.search("(all|noarch)[.]", packages[name].name)]
    assert for_any == [DEFAULT]


def test_the_rpm_requires_packages_by_their_names(rpms: dict[str, Path]) -> None:
    """What pip calls them, whoever packaged HTCondor may not have said."""
    required = built.requirements(rpms[MAIN])
    assert "python3-condor >= 24.12" in required
    assert [name for name in required if "dist(" in name] == []


def test_no_file_is_in_htcondors_packages(root: DebianRoot, packages: dict[str, Path]) -> None:
    theirs = set(root.run("dpkg", "--listfiles", "condor", "minicondor").splitlines())
    assert "/usr/bin/condor_submit_dag" in theirs
    for package in packages.values():
        assert not built.contents(package) & theirs, package


@pytest.mark.usefixtures("debs")
def test_lintian_finds_what_is_known(making: Callable[[str], Any]) -> None:
    if not shutil.which("lintian"):
        pytest.skip("there is no lintian")
    said = making("lintian")
    assert set(re.findall(r"(?m)^[EW]: \S+: (\S+)", said)) == KNOWN_TO_LINTIAN, said


DIAMOND = """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PARENT A CHILD B C
PARENT B C CHILD D
"""
JOB = """\
executable = /bin/true
transfer_executable = False
request_memory = 1M
request_disk = 1M
queue
"""


class Run:
    """A DAG of the user, in a directory of its own.

    Attributes:
        place: the directory.
    """

    def __init__(self, root: DebianRoot, name: str, dag: str, **files: str) -> None:
        self.root = root
        self.name = name
        self.place = root.path / "home" / USER / name
        root.login(f"rm -rf {name} && mkdir {name}")
        for file, text in {"t.dag": dag, **files}.items():
            (self.place / file.replace("_", ".")).write_text(text, encoding="utf-8")

    def here(self, script: str) -> str:
        """What a script of the user prints that runs in the directory."""
        return self.root.login(f"cd {self.name} && {script}")

    def submit(self, command: str = "condor_submit_dag t.dag") -> str:
        """Submit the DAG; what that printed."""
        return self.here(command)

    def program(self) -> str:
        """The program that runs the DAG, as its log says."""
        (program,) = re.findall(r"(?m)\*\* (/\S+)$", self.out())
        return str(program)

    def starts(self) -> list[str]:
        """The version that each DAGMan of this DAG has said; "" where it said none."""
        return re.findall(r"STARTING UP(?: \((.*)\))?", self.out())

    def out(self) -> str:
        """The text of `.dagman.out`."""
        file = self.place / "t.dag.dagman.out"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def ends(self) -> str:
        """Wait for the end of the DAGMan that has started last; its exit code."""

        def codes() -> list[str]:
            return re.findall(r"EXITING WITH STATUS (\d+)", self.out().rpartition("STARTING UP")[2])

        return str(until(codes, "DAGMan ends", story=self.out)[-1])

    def again(self) -> None:
        """Hold DAGMan and release it, so that it starts once more."""
        count = len(self.starts())
        self.here("condor_hold $(cat cluster)")
        held = 'test "$(condor_q $(cat cluster) -af JobStatus)" = 5 && echo held || :'
        until(lambda: self.here(held), "DAGMan is on hold", pause_s=0.3)
        self.here("condor_release $(cat cluster)")
        until(lambda: len(self.starts()) > count, "DAGMan starts again", story=self.out)


def test_the_default_package_changes_what_users_run_and_changes_it_back(
    installed: DebianRoot, packages: dict[str, Path]
) -> None:
    which = "command -v condor_submit_dag; man --where condor_submit_dag condor_pydagman"
    pages = "/usr/share/man/man1"
    before = ["/usr/bin/condor_submit_dag", f"{pages}/condor_submit_dag.1"]
    ours = [f"{pages}/condor_pydagman.1"]

    def found() -> list[str]:
        return [path.removesuffix(".gz") for path in installed.login(which).split()]

    assert found() == before + ours
    put(installed, packages[DEFAULT])
    page = "/usr/lib/condor_pydagman/share/man/man1/condor_submit_dag.1"
    assert found() == [f"{OURS}/condor_submit_dag", page, *ours]
    if packages[DEFAULT].suffix == ".deb":  # Enterprise Linux's csh looks elsewhere
        csh = [
            "su",
            "--shell",
            "/bin/tcsh",
            "--login",
            USER,
            "--command",
            "which condor_submit_dag",
        ]
        assert installed.run(*csh).strip() == f"{OURS}/condor_submit_dag"
    run = Run(installed, "profile", DIAMOND, job_sub=JOB)
    run.submit()
    assert run.ends() == "0"
    assert run.program() == f"{OURS}/condor_dagman"
    take(installed, packages[DEFAULT], DEFAULT)
    assert found() == before + ours


def test_the_transform_gives_every_dag_to_ours(installed: DebianRoot) -> None:
    installed.run("cp", TRANSFORM, "/etc/condor/config.d/")
    installed.run("condor_reconfig", "-schedd")
    try:
        run = Run(installed, "transform", DIAMOND, job_sub=JOB)
        run.submit()
        assert run.ends() == "0"
        assert run.program() == f"{OURS}/condor_dagman"
    finally:
        installed.run("rm", f"/etc/condor/config.d/{Path(TRANSFORM).name}")
        installed.run("condor_reconfig", "-schedd")


def test_a_dagman_can_sleep(installed: DebianRoot) -> None:
    said = installed.login("condor_pydagman --version --verbose")
    assert re.search("(?m)^sleep +possible$", said), said


PROGRAM = "from condor_pydagman import submit_dag; submit_dag('t.dag')"


def test_a_python_program_submits_to_ours(installed: DebianRoot) -> None:
    """Though HTCondor's own is beside the system's Python, and first on PATH."""
    run = Run(installed, "program", DIAMOND.partition("JOB B")[0], job_sub=JOB)
    run.submit(f'/usr/bin/python3 -c "{PROGRAM}"')
    assert run.ends() == "0"
    assert run.program() == f"{OURS}/condor_dagman"


STEPS = "CONFIG t.config\nJOB A wait.sub\nJOB B job.sub\nPARENT A CHILD B\n"
CONDITION = (
    f"{STEPS}JOB FIRST job.sub\nPARENT FIRST CHILD A\nRUN_IF A Parents.FIRST.ExitCode == 0\n"
)
WAITS = """\
universe = local
executable = wait.sh
queue
"""
WAIT = "#!/bin/sh\necho A >> ledger\nuntil [ -e go ]; do sleep 0.2; done\n"
ASLEEP = "Nothing to do: asleep until something happens"
SUBMIT = f"""\
set -o pipefail
{OURS}/condor_submit_dag t.dag | sed -n 's/.*to cluster \\([0-9]*\\).*/\\1/p' > cluster
"""


def begun(root: DebianRoot, name: str, dag: str = STEPS, sleep_after: int = 0) -> Run:
    """A DAG whose node A runs until there is a file `go`, and B then."""
    files = {"job_sub": JOB, "wait_sub": WAITS, "wait_sh": WAIT}
    run = Run(root, name, dag, **files, t_config=f"PYDAGMAN_SLEEP_AFTER = {sleep_after}\n")
    (run.place / "wait.sh").chmod(0o755)
    run.submit(SUBMIT)
    until((run.place / "ledger").exists, "A runs", story=run.out)
    return run


def ends_well(run: Run) -> None:
    run.here("touch go")
    assert run.ends() == "0"
    assert (run.place / "ledger").read_text(encoding="utf-8") == "A\n"


def test_upgrades_and_downgrades_while_dags_run(
    installed: DebianRoot, packages: dict[str, Path], newer: Path
) -> None:
    """A DAGMan that runs goes on with the code that it has; the next one that starts, or wakes, has
    the new, and goes on where the other was."""
    stays, restarts = (begun(installed, name) for name in ("stays", "restarts"))
    sleeps = begun(installed, "sleeps", sleep_after=1)
    until(lambda: ASLEEP in sleeps.out(), "it sleeps", story=sleeps.out)
    put(installed, newer)
    assert installed.login("condor_pydagman --version").startswith(NEWER)
    assert stays.starts() == restarts.starts() == [""]
    answer = stays.here("condor_pydagman steer skip t.dag B 2>&1 || :")
    assert "have been replaced since DAGMan was started" in answer
    ends_well(stays)
    assert stays.starts() == sleeps.starts() == [""]
    ends_well(sleeps)
    assert sleeps.starts() == ["", NEWER]
    restarts.again()
    assert restarts.starts() == ["", NEWER]
    latest = begun(installed, "latest")
    put(installed, packages[MAIN])
    assert installed.login("condor_pydagman --version").startswith(condor_pydagman.__version__)
    restarts.again()
    assert restarts.starts() == ["", NEWER, ""]
    ends_well(restarts)
    ends_well(latest)
    assert latest.starts() == [NEWER]


def test_records_of_another_version_put_a_dag_on_hold(
    installed: DebianRoot, packages: dict[str, Path], newer: Path
) -> None:
    """Until what has written them is installed again; its jobs go on."""
    run = begun(installed, "condition", CONDITION)
    put(installed, newer)
    try:
        run.again()
        reason = "condor_q $(cat cluster) -constraint 'JobStatus == 5' -af HoldReason"
        held = str(until(lambda: run.here(reason), "it is on hold", story=run.out))
    finally:
        put(installed, packages[MAIN])
    assert "a record CONDITION, which another version of condor_pydagman has written" in held
    assert "Nothing has been changed" in held
    run.here("condor_release $(cat cluster)")
    until(lambda: run.starts() == ["", NEWER, ""], "DAGMan starts again", story=run.out)
    ends_well(run)
