"""Whose events went when a log lost its end; the tables; the history as it grows."""

from __future__ import annotations

from pathlib import Path

from tests.torture import damage
from tests.torture.world import History

LOG = "".join(
    f'{kind:03} ({cluster:03}.000.000) 2026-11-21 11:56:29\n    DAGNodeName = "A{cluster}"\n...\n'
    for kind, cluster in ((0, 1), (1, 1), (0, 2), (5, 1), (1, 2), (5, 2))
)


def cut_at(log: Path, place: int) -> None:
    log.write_text(LOG)
    log.with_name("log.whole").write_text(LOG)
    log.with_name("log.cut").write_text(f"{place}\n")
    log.write_text(LOG[:place])


def test_a_cut_affects_all_jobs_after_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    event = len(LOG) // 6
    cut_at(log, 5 * event)
    assert damage.hurt_by_cut(log) == ({2}, {"A2"})
    cut_at(log, 3 * event + 5)
    assert damage.hurt_by_cut(log) == ({1, 2}, {"A1", "A2"})
    cut_at(log, len(LOG))
    assert damage.hurt_by_cut(log) == (set(), set())


def test_a_cut_affects_events_across_the_new_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    cut_at(log, len(LOG) - 3)
    with log.open("a") as file:
        file.write("005 (009.000.000) 2026-11-21 11:56:29 Ended\n...\n")
        file.write("005 (010.000.000) 2026-11-21 11:56:29 Ended\n...\n")
    assert damage.hurt_by_cut(log) == ({2, 9}, {"A2"})


def test_jobs_with_all_their_events_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(LOG[LOG.index("001") :])
    assert damage.whole(log) == {2: 1}
    assert damage.whole(tmp_path / "none") == {}


def test_the_history_as_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "history"
    history = History(path)
    assert history.look() == {}
    ad = 'ClusterId = {}\nProcId = 0\nDAGNodeName = "A"\nJobStatus = {}\nExitCode = 3\n'
    path.write_text(ad.format(1, 4))
    assert history.look() == {}
    with path.open("a") as file:
        file.write("*** Offset = 0 ClusterId = 1\n" + ad.format(2, 3))
    assert set(history.look()) == {(1, 0)}
    path.rename(tmp_path / "history.20261121")
    with (tmp_path / "history.20261121").open("a") as file:
        file.write("*** Offset = 9 ClusterId = 2\n")
    path.write_text(ad.format(3, 4) + "*** Offset = 0 ClusterId = 3\n")
    assert set(history.look()) == {(1, 0), (2, 0), (3, 0)}
    assert history.ads[1, 0]["DAGNodeName"] == "A"
    assert [history.exit_code(cluster) for cluster in (1, 2, 4)] == [3, -1, None]
