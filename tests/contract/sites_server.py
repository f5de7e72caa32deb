"""Starts what finds sites for a DAGMan, as DAGMan does, for a test that may not: as root, the test
can't ask the pool.

    python -m tests.contract.sites_server CLUSTER DIRECTORY SCENE full|free CLAIMS GROUP...

Makes one round for a DAG of three groups that want sites with that Scene, with DIRECTORY for the
claims.  CLAIMS is JSON, an object.  Prints the answer in JSON: claims, or text.  `full`: no file
takes a byte.
"""

from __future__ import annotations

import json
import resource
import select
import sys
import time
from types import SimpleNamespace
from typing import Any

from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_process import ScheddProcess
from condor_pydagman.config import Config
from condor_pydagman.daemon.helpers import Helpers
from condor_pydagman.daemon.run import OwnJob
from condor_pydagman.features.sites.choice import Wanted
from condor_pydagman.features.sites.commands import GroupsOfDag, SiteGroup, SitePolicy
from condor_pydagman.features.sites.messages import MatchSites, SitesMatched, SitesUnknown
from condor_pydagman.graph.model import Dag


def answer(cluster: int, directory: str, scene: str, claims: dict[str, str], groups: Any) -> Any:
    """What the first round brings."""
    schedd = ScheddProcess(ScheddAdapter(cluster))
    policy = SitePolicy(requirements=f'TARGET.Scene == "{scene}"')
    dag = Dag()
    GroupsOfDag.put(dag).site_groups = [SiteGroup(n, (), policy) for n in "012"]
    run: Any = SimpleNamespace(
        dag=dag,
        paths=SimpleNamespace(primary="t.dag", sites=f"{directory}.sites"),
        out=SimpleNamespace(say=lambda *_: None),
        files=SimpleNamespace(replace=lambda *_: None),
        clock=SimpleNamespace(monotonic=time.monotonic),
        config=Config(sites_dir=directory),
        job=OwnJob(cluster, ad={"GlobalJobId": "ap#1.0#1"}),
        schedd=schedd,
    )
    kept = tuple((int(group), site) for group, site in claims.items())
    told: list[Any] = []
    wanted = tuple(Wanted(int(group), 0) for group in groups)
    helpers = Helpers(run, schedd, run.config, {})
    helpers.ask("sites", MatchSites(kept, wanted, ()), told.append)
    while not told:
        if not schedd.ready:
            select.select([schedd], [], [])
        schedd.deliver()
    schedd.close()
    found = told[0]
    if isinstance(found, SitesUnknown):
        return found.reason
    assert isinstance(found, SitesMatched)
    return {claim.group: claim.site for claim in found.claims}


def main() -> None:
    cluster, directory, scene, disk, claims, *groups = sys.argv[1:]
    if disk == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    found = answer(int(cluster), directory, scene, json.loads(claims), groups)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps(found))  # perhaps into a file


if __name__ == "__main__":
    main()
