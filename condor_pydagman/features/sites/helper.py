"""Sites for the groups of a DAG: rounds of matchmaking, made in a process, so that a collector
which hangs holds up nothing else; and what is known of the sites' ads, for submit descriptions and
scripts.

The ads that groups were matched by are in a file beside the DAG, `<dag>.sites`, before the match is
in the nodes log: so a restart gives later nodes of a group the same values.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters import files
from condor_pydagman.adapters.helper_process import Helper
from condor_pydagman.adapters.shared_directory import user_name
from condor_pydagman.errors import FileError
from condor_pydagman.features.common.adapters.job_claims import BY_HAND, Waker
from condor_pydagman.features.common.adapters.queued_dagmans import in_queue, queue_name
from condor_pydagman.features.sites.adapters.ads import KnownAd, query
from condor_pydagman.features.sites.adapters.claims_directory import WAKES, ClaimsDirectory
from condor_pydagman.features.sites.adapters.description import macros, with_site
from condor_pydagman.features.sites.adapters.evaluation import BadPolicy, group_ad
from condor_pydagman.features.sites.adapters.matcher import Groups, Made, Matcher, give_up
from condor_pydagman.features.sites.choice import Limits, Wanted
from condor_pydagman.features.sites.commands import groups_of
from condor_pydagman.features.sites.messages import (
    MatchSites,
    PlaceFree,
    SiteClaim,
    SitesMatched,
    SitesUnknown,
)
from condor_pydagman.graph.stepwise import Steps

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.helpers import Helpers
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.engine.actions import RunScript, SubmitNode
    from condor_pydagman.graph.model import Dag
    from condor_pydagman.language.description import Template

_NO_AD = KnownAd("", {}, {})


class SiteHelper(Helper):
    """See `Helper`.

    Args:
        make: makes the Matcher of who is woken at that address, in the process; it may raise
            PydagmanError.
        keep: keeps ads; it may raise FileError.
        forget: gives up all claims.
        interval_s: seconds for which sites are taken as known.
    """

    purpose = "look for sites"
    died = "the process that looks for sites has died"
    late = "no answer within {seconds} s"
    kinds = (MatchSites, Wanted, Limits, Made, SitesMatched, SiteClaim, SitesUnknown, KnownAd)
    timeout_s, stays_s = 90.0, 5.0

    def __init__(
        self,
        make: Callable[[str], Matcher],
        keep: Callable[[Mapping[str, KnownAd]], None],
        forget: Callable[[], None],
        interval_s: float,
    ) -> None:
        self._make, self._keep = make, keep
        self._forget = forget
        self.knows_s = interval_s
        self._matcher: Matcher | None = None  # in the process
        self.waker = waker = Waker(WAKES)
        self.woken, self._address = PlaceFree(), waker.address

    def reply(self, order: MatchSites, answer: Made) -> SitesMatched | SitesUnknown:
        """What the round has come to, when its ads are kept."""
        try:
            self._keep(answer.ads)
        except FileError as error:
            return SitesUnknown(str(error))
        return answer.reply

    def failed(self, order: object, reason: str) -> SitesUnknown:
        """There is no round."""
        return SitesUnknown(reason)

    def give_up(self) -> None:
        """All claims of the DAG are given up."""
        self._forget()

    def serve(self, order: MatchSites) -> Made:
        """In the process."""
        if self._matcher is None:
            self._matcher = self._make(self._address)
        return self._matcher.round(*order)


class SiteValues:
    """What sites give to nodes; see `ports.Extras`."""

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._path = run.paths.sites
        self._ads: dict[str, KnownAd] | None = None  # by digest; None: not read yet

    def template(self, template: Template, action: SubmitNode) -> Template:
        """A submit description for a node, with what its site gives."""
        if not action.site:
            return template
        return with_site(
            template, action.site, self._values(action), self._ad(action.site_ad).environment
        )

    def macros(self, action: SubmitNode) -> Mapping[str, str]:
        """Macros that a DATA node's site gives to its request."""
        return macros(self._values(action)) if action.site else {}

    def _values(self, action: SubmitNode) -> Mapping[str, Any]:
        return {"Name": action.site, **self._ad(action.site_ad).values}

    def environment(self, action: SubmitNode | RunScript) -> Mapping[str, str]:
        """Variables that the node's scripts get, and $ENV() in its submit description."""
        if not action.site:
            return {}
        ad = self._ad(action.site_ad)
        plain = {f"MATCH_{name}": str(value) for name, value in ad.values.items()}
        return {**plain, "MATCH_Name": action.site, **ad.environment}

    def keep(self, ads: Mapping[str, KnownAd]) -> None:
        """Have these ads in the file.

        Raises:
            FileError: it can't be written.
        """
        known = self._known()
        if ads.keys() <= known.keys():
            return
        all_ads = {**known, **ads}
        self._run.files.replace(self._path, [json.dumps(ad) + "\n" for ad in all_ads.values()])
        known.update(ads)

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


def _read(line: str) -> KnownAd | None:
    try:
        digest, values, environment = json.loads(line)
        return KnownAd(str(digest), dict(values), dict(environment))
    except (ValueError, TypeError):
        return None


def open_helper(helpers: Helpers) -> SiteHelper:
    """The helper of a DAG with groups, which has what its sites give from now on."""
    run = helpers.run
    values = SiteValues(run)
    run.extras = values
    return SiteHelper(
        lambda address: _matcher(run, address),
        values.keep,
        lambda: _forget(run),
        run.config.sites_interval,
    )


def obstacle(dag: Dag, admin: Config) -> Steps[str]:
    """What is wrong with the expressions of the DAG's policies; '' if nothing is."""
    yield from ()
    for policy in {group.policy: None for group in groups_of(dag)}:
        try:
            group_ad(policy, {})
        except BadPolicy as error:
            names = [group.name for group in groups_of(dag) if group.policy == policy]
            return f"SITE_POLICY of group {names[0]}: {error}"
    return ""


def _forget(run: DagRun) -> None:
    try:
        give_up(_directory(run))
    except FileError as error:
        run.out.say(f"Warning: claims of sites stay until later: {error}", 0)


def _matcher(run: DagRun, address: str) -> Matcher:
    groups = groups_of(run.dag)
    kinds = {policy: number for number, policy in enumerate({one.policy: None for one in groups})}
    dag_file = os.path.abspath(run.paths.primary)
    facts: dict[str, Any] = {
        "Owner": user_name(os.geteuid()),  # whatever the environment says
        "DAGManJobId": run.job.cluster,
        "DAGFile": dag_file,
    }
    return Matcher(
        Groups(
            dag_file,
            [group.name for group in groups],
            list(kinds),
            [kinds[group.policy] for group in groups],
            facts,
        ),
        directory=_directory(run),
        query=query,
        interval_s=run.config.sites_interval,
        address=address,
    )


def _directory(run: DagRun) -> ClaimsDirectory:
    schedd = queue_name(run.job.ad.get("GlobalJobId")) if run.job.cluster else BY_HAND
    number = run.job.cluster or run.process.pid
    return ClaimsDirectory(
        run.config.sites_dir, schedd, number, in_queue, lambda text: run.out.say(text, 0)
    )
