"""Chains in bundles on a real pool: nodes that run behind others of their bundle.

Each task adds a line to what the one before has made, and writes into the ledger when it begins and
ends.  Every scene is played in both kinds of run: without and with file transfer.
"""

from __future__ import annotations

import signal

from condor_pydagman.pool import processes
from tests.pool import dags
from tests.pool.bundle_scenes import SHARED, TRANSFERRED, Bundled, in_both
from tests.pool.dagmans import send
from tests.pool.scenes import Scene, Stage

STAGE = Stage()

TASK = """\
#== task.sh
#!/bin/sh
# task.sh NAME RETRY HOME BEFORE...
echo "$1 $2 start $(date +%s.%N) $$ $PPID" >> "$3/ledger"
code=0 name=$1 retry=$2 home=$3
shift 3
if test -e "$home/$name.does"; then set -- "$@"; . "$home/$name.does"; fi
cat /dev/null "$@" > "made.$name" && echo "$name $retry" >> "made.$name" || code=9
echo "$name $retry said"
echo "$name $retry end $(date +%s.%N)" >> "$home/ledger"
exit $code
#== task.sub
executable = task.sh
arguments = "$(JOB) $(RETRY) HOME $(made)"
output = $(JOB).said
should_transfer_files = TRANSFER
queue
#== knobs
DAGMAN_CHECK_QUEUE_INTERVAL = 5
"""

FILES = """
transfer_input_files = $(files)
transfer_output_files = made.$(JOB)
queue"""
# Waits for a file `go.NAME`; is true the first time.
WAITS = 'until test -e "$home/go.$name"; do sleep 0.2; done\n'
ONCE = 'mkdir "$home/first.$name" 2>/dev/null &&'


WRITES = """\
sed 's/^output.*/output = anew/' "$home/other.sub" > "$home/new.sub"
mv "$home/new.sub" "$home/other.sub"
"""


class Chained(Bundled):
    """A scene with one line of nodes, each of which waits for some before it; those in `other` have
    a description in a file of their own."""

    other = ""

    def submit_chain(self, parents: dict[str, str], more: str = "", **does: str) -> None:
        """Submit a DAG of these nodes, by name those that each waits for; `does`: what their tasks
        do."""
        self.names = list(parents)
        for name, what in does.items():
            (self.scene.work / f"{name}.does").write_text(what)
        lines = ["CONFIG knobs", "BUNDLE b CHAINS ALL_NODES"]
        for name, before in parents.items():
            made = [f"made.{one}" for one in before.split()]
            words = f'made="{" ".join(made)}" files="{", ".join(made)}"'
            submit = "other" if name in self.other else "task"
            lines += [f"JOB {name} {submit}.sub", f"VARS {name} {words}"]
            lines += [f"PARENT {before} CHILD {name}"] if before else []
        task = TASK.replace("HOME", str(self.scene.work)).replace("TRANSFER", self.kind)
        if self.transfers:
            task = task.replace("\nqueue", FILES)
        other = task.partition("#== task.sub\n")[2].partition("#==")[0]
        self.scene.submit("\n".join([*lines, more, f"{task}#== other.sub\n{other}"]))

    def made(self, **lines: str) -> None:
        """What nodes have made, with that of those before them, is at home."""
        for name, wanted in lines.items():
            found = self.scene.text(f"made.{name}").splitlines()
            assert found == [f"{one} {retry}" for one, retry in _pairs(wanted)], (name, found)


def _pairs(text: str) -> list[tuple[str, str]]:
    """`A B1` stands for run 0 of A and run 1 of B."""
    return [(one[0], one[1:] or "0") for one in text.split()]


CHAIN = {"A": "", "B": "A", "C": "B", "D": "C"}

both = in_both(STAGE, Chained)


@both
def a_chain_runs_in_one_job(b: Chained) -> None:
    b.submit_chain(CHAIN)
    b.ends()
    b.ran()
    b.made(D="A B C D")
    b.scene.says("Submitting bundle 1 of 4 nodes: A, B, C, ...")
    assert "bundle 2" not in b.scene.text("t.dag.dagman.out")


@both
def chains_that_meet(b: Chained) -> None:
    b.submit_chain({"A": "", "B": "", "C": "A B", "D": "C"})
    b.ends()
    b.ran()
    b.made(D="A B C D")


@both
def a_step_fails_once(b: Chained) -> None:
    b.submit_chain(CHAIN, "RETRY B 1", B=f"{ONCE} code=3\n")
    b.ends()
    assert dags.starts(b.scene.work) == {"A 0": 1, "B 0": 1, "B 1": 1, "C 0": 1, "D 0": 1}
    b.made(D="A B1 C D")


@STAGE.scene
def files_are_transferred_only_if_needed(scene: Scene) -> None:
    """The pool's machine shares them, so that no step names what it reads."""
    b = Chained(scene, "IF_NEEDED")
    b.submit_chain(CHAIN)
    b.ends()
    b.ran()
    b.made(D="A B C D")
    b.scene.says("Submitting bundle 1 of 4 nodes: A, B, C, ...")


@STAGE.scene
def a_step_writes_the_description_of_the_next(scene: Scene) -> None:
    """It was there before: B has run by that, and C behind it, and both do so again."""
    b = Chained(scene, SHARED)
    b.other = "B"
    b.submit_chain(CHAIN, A=WRITES)
    b.ends()
    b.began(B=2, C=2, D=2)
    b.made(D="A B C D")
    assert scene.text("anew") == "B 0 said\n"


@STAGE.scene
def outputs_that_are_links(scene: Scene) -> None:
    """HTCondor writes what they lead to."""
    b = Chained(scene, TRANSFERRED)
    for name in ("made.A", "made.B", "B.said"):
        (scene.work / f"real.{name}").write_text("old")
        (scene.work / name).symlink_to(f"real.{name}")
    b.submit_chain({"A": "", "B": "A"})
    b.ends()
    b.ran()
    assert (scene.work / "made.B").is_symlink()
    assert scene.text("real.made.B") == "A 0\nB 0\n"
    assert scene.text("real.B.said") == "B 0 said\n"


@both
def the_starter_is_killed(b: Chained) -> None:
    b.submit_chain(CHAIN, C=WAITS)
    b.started("C")
    send(processes.stat_of(b.is_running("C")[1]).parent, signal.SIGKILL)
    b.goes_on_elsewhere("C")
    b.ends()
    b.began(A=b.is_lost(), B=b.is_lost(), C=2)
    b.made(D="A B C D")


@both
def a_person_removes_the_dag(b: Chained) -> None:
    b.submit_chain(CHAIN, C=WAITS)
    b.started("C")
    b.scene.remove()
    b.scene.gone()
    assert sorted(b.scene.rescue()) == ([] if b.transfers else ["A", "B"])
    b.scene.touch("go.C")
    b.scene.submit_again()
    b.ends()
    b.began(A=b.is_lost(), B=b.is_lost(), C=2)
    b.made(D="A B C D")


@both
def dagman_is_killed(b: Chained) -> None:
    b.submit_chain(CHAIN, C=WAITS)
    b.started("C")
    b.explained("It is to run behind C in bundle 1 (job", ", which runs on", node="D")
    b.scene.restart()
    b.scene.touch("go.C")
    b.ends()
    b.ran()
    b.made(D="A B C D")


test_scenes = STAGE.tests()
