"""Sites for the groups of a DAG: hands rounds of matchmaking over, and keeps what is known of the
sites' ads, for submit descriptions and scripts.  DAGs without groups do not load it.

The ads that groups were matched by are in a file beside the DAG, `<dag>.sites`, before the match is
in the nodes log: so a restart gives later nodes of a group the same values.
"""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters import files
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import FileError
from condor_pydagman.matchmaking.claims_directory import BY_HAND, ClaimsDirectory
from condor_pydagman.matchmaking.evaluation import BadPolicy, group_ad
from condor_pydagman.matchmaking.match_process import FindSites, MatchProcess
from condor_pydagman.matchmaking.matcher import Matcher, Round
from condor_pydagman.matchmaking.queued_dagmans import in_queue, queue_name
from condor_pydagman.matchmaking.site_ads import KnownAd, query
from condor_pydagman.records.job_description import Template
from condor_pydagman.records.site_description import macros, with_site

if TYPE_CHECKING:
    from condor_pydagman.adapters.schedd_process import ScheddProcess
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.graph.model import Dag

_NO_AD = KnownAd("", {}, {})


class SiteDesk:
    """What DAGMan does about sites."""

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._path = run.paths.sites
        self._ads: dict[str, KnownAd] | None = None  # by digest; None: not read yet

    def match(self, action: do.MatchSites, tell: Callable[[inputs.Input], None]) -> None:
        """Have a round made; `tell` is given its result later."""
        request = FindSites(action.claims, action.wanted, action.watched, action.few)
        self._run.schedd.ask(request, lambda result: tell(self._told(result)))  # type: ignore[arg-type]

    def _told(self, result: Round | str) -> inputs.Input:
        if isinstance(result, str):
            return inputs.SitesUnknown(result)
        try:
            self._keep(result.ads)
        except FileError as error:
            return inputs.SitesUnknown(str(error))
        claims = [inputs.SiteClaim(*match) for match in result.matches]
        return inputs.SitesMatched(
            claims, result.sites, result.reasons, result.unfit, result.without_room
        )

    def template(self, template: Template, action: do.SubmitNode) -> Template:
        """A submit description for a node, with what its site gives."""
        if not action.site:
            return template
        return with_site(
            template, action.site, self._values(action), self._ad(action.site_ad).environment
        )

    def macros(self, action: do.SubmitNode) -> Mapping[str, str]:
        """Macros that a DATA node's site gives to its request."""
        return macros(self._values(action)) if action.site else {}

    def _values(self, action: do.SubmitNode) -> Mapping[str, Any]:
        return {"Name": action.site, **self._ad(action.site_ad).values}

    def environment(self, action: do.SubmitNode | do.RunScript) -> Mapping[str, str]:
        """Variables that the node's scripts get, and $ENV() in its submit description."""
        if not action.site:
            return {}
        ad = self._ad(action.site_ad)
        plain = {f"MATCH_{name}": str(value) for name, value in ad.values.items()}
        return {**plain, "MATCH_Name": action.site, **ad.environment}

    def give_up(self) -> None:
        """The DAG has ended: its claims are given up."""
        try:
            _directory(self._run).remove()
        except FileError as error:
            self._run.out.say(f"Warning: claims of sites stay until later: {error}", 0)

    def _ad(self, digest: str) -> KnownAd:
        return self._known().get(digest, _NO_AD)

    def _known(self) -> dict[str, KnownAd]:
        if self._ads is None:
            self._ads = {}
            try:
                text = files.read_text(self._path, own=True)
            except FileNotFoundError:
                return self._ads
            except (OSError, FileError) as error:
                self._run.out.say(f"Warning: the values of sites are lost: {error}", 0)
                return self._ads
            for line in text.splitlines():
                ad = _read(line)
                if ad is not None:
                    self._ads[ad.digest] = ad
        return self._ads

    def _keep(self, ads: Mapping[str, KnownAd]) -> None:
        known = self._known()
        if ads.keys() <= known.keys():
            return
        all_ads = {**known, **ads}
        self._run.files.replace(self._path, [json.dumps(ad) + "\n" for ad in all_ads.values()])
        known.update(ads)


def refuse_bad_policies(dag: Dag) -> str:
    """What is wrong with the expressions of the DAG's policies; '' if nothing is."""
    for policy in {group.policy: None for group in dag.site_groups}:
        try:
            group_ad(policy, {})
        except BadPolicy as error:
            names = [group.name for group in dag.site_groups if group.policy == policy]
            return f"SITE_POLICY of group {names[0]}: {error}"
    return ""


def open_desk(run: DagRun, schedd: ScheddProcess) -> SiteDesk:
    """The desk of a DAG with groups, and the process that makes its rounds."""
    schedd.add_helper(
        FindSites,
        lambda epoll: MatchProcess(
            lambda: _matcher(run),
            epoll,
            run.config.sites_interval,
            run.clock.monotonic,
            lambda text: run.out.say(text, 0),
        ),
    )
    return SiteDesk(run)


def _matcher(run: DagRun) -> Matcher:
    groups = run.dag.site_groups
    kinds = {policy: number for number, policy in enumerate({one.policy: None for one in groups})}
    dag_file = os.path.abspath(run.paths.primary)
    facts: dict[str, Any] = {
        "Owner": _user(),
        "DAGManJobId": run.cluster,
        "DAGFile": dag_file,
    }
    return Matcher(
        dag_file,
        [group.name for group in groups],
        list(kinds),
        [kinds[group.policy] for group in groups],
        facts,
        directory=_directory(run),
        query=query,
        interval_s=run.config.sites_interval,
    )


def _user() -> str:
    """The user of the process, whatever the environment says; the number if there is no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _directory(run: DagRun) -> ClaimsDirectory:
    schedd = queue_name(run.own_ad.get("GlobalJobId")) if run.cluster else BY_HAND
    number = run.cluster or run.pid
    return ClaimsDirectory(
        run.config.sites_dir, schedd, number, in_queue, lambda text: run.out.say(text, 0)
    )


def _read(line: str) -> KnownAd | None:
    try:
        digest, values, environment = json.loads(line)
        return KnownAd(str(digest), dict(values), dict(environment))
    except (ValueError, TypeError):
        return None
