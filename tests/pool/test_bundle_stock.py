"""What the stock DAGMan does with the nodes log of a DAG that was run with bundles."""

from __future__ import annotations

from tests.pool.bundle_scenes import SHARED, WAITS, Bundled
from tests.pool.scenes import Scene, Stage

STAGE = Stage()


@STAGE.scene
def stock_goes_on_with_the_rescue_file(s: Scene) -> None:
    b = Bundled(s, SHARED)
    b.submit("A B C D", size=2, C=WAITS)
    s.says("Node B job.s. have exited the queue")
    b.started("C")
    s.remove()
    s.gone()
    _without_bundles(s)
    s.touch("go.C")
    words = ("-update_submit", "-dagman", s.access_point.stock_dagman, "t.dag")
    (s.work / "t.dag.dagman.log").unlink()
    s.cluster = s.access_point.submit(s.work, *words, stock=True)
    b.ends()
    b.ran(C=2)


@STAGE.scene
def stock_can_not_recover_from_its_log(s: Scene) -> None:
    """It takes all nodes that have run in one cluster for one."""
    b = Bundled(s, SHARED)
    b.submit("A B C D", size=2, C=WAITS)
    s.says("Node B job.s. have exited the queue")
    b.started("C")
    s.hold()
    _without_bundles(s)
    s.run("condor_qedit", str(s.cluster), "Cmd", f'"{s.access_point.stock_dagman}"')
    s.run("condor_release", str(s.cluster))
    s.says("Assertion ERROR on .*findResult")
    s.hold()
    s.touch("go.C")
    s.run("condor_qedit", str(s.cluster), "Cmd", f'"{s.access_point.our_dagman}"')
    s.run("condor_release", str(s.cluster))
    b.ends()
    b.ran()


def _without_bundles(s: Scene) -> None:
    text = s.run("condor_pydagman", "flatten", "--without-bundles", "t.dag")
    (s.work / "t.dag").write_text(text)


test_scenes = STAGE.tests()
