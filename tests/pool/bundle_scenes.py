"""Scenes of bundles on a real pool: DAGs of a few nodes whose tasks tell when they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.pool import dags
from tests.pool.scenes import Scene, Stage
from tests.waiting import is_gone

# Adds a line to what other tasks have made; does what `NAME.does` says before, if there is such a
# file, which may set `code`.
TASK = """\
#== task.sh
#!/bin/sh
# task.sh NAME RETRY HOME BEFORE...
echo "$1 $2 start $(date +%s.%N) $$ $PPID" >> "$3/ledger"
code=0 name=$1 retry=$2 home=$3
shift 3
if test -e "$home/$name.does"; then . "$home/$name.does"; fi
cat /dev/null "$@" > "made.$name"
echo "$name $retry" >> "made.$name"
echo "$name $retry said"
echo "$name $retry end $(date +%s.%N)" >> "$home/ledger"
exit $code
#== task.sub
universe = vanilla
executable = task.sh
arguments = "$(JOB) $(RETRY) HOME $(made:)"
output = $(JOB).said
should_transfer_files = TRANSFER
queue
"""
KNOBS = """\
#== knobs
DAGMAN_CHECK_QUEUE_INTERVAL = 5
"""
SHARED, TRANSFERRED = "NO", "YES"
# Waits for a file `go.NAME`.
WAITS = 'until test -e "$home/go.$name"; do sleep 0.2; done\n'


class Bundled:
    """A scene with one bundle of all nodes, in one of both kinds of run; `lines` are added to the
    nodes' description."""

    def __init__(self, scene: Scene, kind: str) -> None:
        self.scene = scene
        self.kind = kind
        self.names: list[str] = []
        self.lines = ""

    @property
    def transfers(self) -> bool:
        return self.kind == TRANSFERRED

    def submit(self, names: str = "A B C D", more: str = "", size: int = 9, **does: str) -> None:
        """Submit a DAG of these nodes; `does`: what their tasks do."""
        self._submit(names.split(), f"BUNDLE b SIZE {size} ALL_NODES\n{more}", does)

    def submit_chain(self, **does: str) -> None:
        """Submit a DAG of A, B, C and D, each of which needs what the one before has made."""
        lines = "BUNDLE b CHAINS ALL_NODES\n"
        for before, name in zip("ABC", "BCD"):
            lines += f'PARENT {before} CHILD {name}\nVARS {name} made="made.{before}"\n'
        self._submit([*"ABCD"], lines, does)

    def _submit(self, names: list[str], lines: str, does: Mapping[str, str]) -> None:
        self.names = names
        for name, what in does.items():
            (self.scene.work / f"{name}.does").write_text(what)
        jobs = "".join(f"JOB {name} task.sub\n" for name in self.names)
        files = TASK.replace("HOME", str(self.scene.work)).replace("TRANSFER", self.kind)
        more = self.lines
        if self.transfers:
            more += "\ntransfer_input_files = $(made:)\ntransfer_output_files = made.$(JOB)"
        files = files.replace("\nqueue", f"\n{more}\nqueue")
        self.scene.submit(f"CONFIG knobs\n{jobs}{lines}{files}{KNOBS}")

    def started(self, *names: str) -> None:
        for name in names:
            self.scene.started(f"{name} 0")

    def b_waits(self) -> None:
        """Submit a DAG of which B waits; it does."""
        self.submit(B=WAITS)
        self.started("A", "B")

    def ends_without_dagman(self, go: str) -> None:
        """Its job ends while DAGMan is held; `go` is the file that its task waits for."""
        job = self.job
        self.scene.hold()
        self.scene.touch(go)
        gone = lambda: not self.scene.access_point.queue(f"ClusterId == {job}")  # noqa: E731
        self.scene.until(gone, "the end of the job")

    def is_running(self, name: str) -> tuple[int, int]:
        """The processes of the node's last task, and of the runner."""
        last = self._starts(name)[-1]
        return int(last[4]), int(last[5])

    def goes_on_elsewhere(self, name: str) -> None:
        """The node's task, which waits, has begun a second time and may end; the first run of its
        bundle is gone, so it begins nothing more."""
        runner = int(self._starts(name)[0][5])
        self.scene.until(lambda: len(self._starts(name)) == 2, f"{name} again")
        self.scene.until(lambda: is_gone(runner), "the end of the first run")
        self.scene.touch(f"go.{name}")

    def _starts(self, name: str) -> list[list[str]]:
        lines = self.scene.text("ledger").splitlines()
        return [line.split() for line in lines if line.startswith(f"{name} 0 start")]

    @property
    def job(self) -> int:
        """The cluster of the first bundle."""
        return int(self.scene.says(r"bundle 1 of [^\n]*\n(?:.*\n)*?.*ID \((\d+)\.")[1])

    def ends(self, code: int = 0) -> None:
        assert self.scene.ends() == code

    def ran(self, **times: int) -> None:
        """All tasks have ended once, and started once or so often as is said."""
        assert dags.runs(self.scene.work) == {f"{name} 0": 1 for name in self.names}
        self.began(**times)

    def began(self, **times: int) -> None:
        assert dags.starts(self.scene.work) == {
            f"{name} 0": times.get(name, 1) for name in self.names if times.get(name, 1)
        }

    def well(self, **times: int) -> None:
        """The DAG ends well: tasks have started once or so often as is said, and all is at home."""
        self.ends()
        self.began(**times)
        self.home()

    def well_once(self, **times: int) -> None:
        """As `well`; and all tasks have ended once."""
        self.well(**times)
        self.ran(**times)

    def home(self, *names: str) -> None:
        """What these nodes have made and said is at home."""
        for name in names or self.names:
            assert self.scene.text(f"made.{name}") == f"{name} 0\n", name
            assert self.scene.text(f"{name}.said") == f"{name} 0 said\n", name

    def chained(self) -> None:
        """The chain ends well, each task has run once, and all that they have made is at home."""
        self.ends()
        self.ran()
        assert self.scene.text("made.D") == "A 0\nB 0\nC 0\nD 0\n"

    def explained(self, *texts: str, node: str = "") -> None:
        """These texts are said of the DAG, or of a node."""

        def is_said() -> bool:
            command = ["condor_pydagman", "explain", "t.dag", *filter(None, [node])]
            said = " ".join(self.scene.answer(*command).stdout.split())
            return all(text in said for text in texts)

        self.scene.until(is_said, f"an explanation with {texts}", after_end=True)

    def is_lost(self) -> int:
        """How often tasks begin that have ended when their machine was lost."""
        return 2 if self.transfers else 1


def in_both(stage: Stage) -> Callable[[Callable[[Bundled], None]], None]:
    """Decorator of a scene that is played in both kinds of run."""

    def add(act: Callable[[Bundled], None]) -> None:
        for kind, name in ((SHARED, "shared"), (TRANSFERRED, "transferred")):
            stage.scenes[f"{act.__name__}_{name}"] = lambda scene, kind=kind: act(
                Bundled(scene, kind)
            )

    return add
