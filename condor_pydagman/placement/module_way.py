"""The way "module": an executable of the site's, named after the two protocols.

`stork.transfer.SOURCE-DESTINATION` is called with the two URLs and the arguments of the request;
exit code 0 is success (see `site_modules` for the rest).  A local destination is a temporary name,
whose file is checked and renamed afterwards (see `local_part`).  What happens at a server, and to a
directory that is transferred as a whole, is the module's matter.
"""

from __future__ import annotations

import os

from condor_pydagman.data_requests import site_programs
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import MODULE
from condor_pydagman.placement import site_modules
from condor_pydagman.placement.child_process import Streams
from condor_pydagman.placement.local_part import LocalPart, ProgramRun
from condor_pydagman.placement.way import OneByOne, Outcome, Progress, Surroundings


class ModuleWay(OneByOne):
    """Transfers by modules; see `way.Way`."""

    name = MODULE

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        """Why there is no module for it, in a few words; '' if there is one.

        One that is there and is refused is also said in the log, once: another way may be taken,
        and nobody would notice.
        """
        path, reason = _find(transfer, surroundings)
        is_refused = not path and not reason.startswith("no ")
        if is_refused and reason not in self._refused:
            self._refused.add(reason)
            surroundings.say(f"WARNING: {reason}")
        return reason

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """Run the module.

        Raises:
            Fault: it failed.
        """
        path, reason = _find(transfer, surroundings)
        if not path:
            raise Fault(FaultKind.MODULE, reason, transient=False)
        run = _Run(path, transfer, surroundings, progress)
        if not transfer.destination.is_local or transfer.source.is_directory:
            return run.to_elsewhere()
        return run.to_file()


class _Run(ProgramRun):
    """One attempt by a module."""

    def __init__(
        self, path: str, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> None:
        super().__init__(f"module {os.path.basename(path)}", transfer, surroundings, progress)
        self._path = path

    def _write(self, part: LocalPart) -> None:
        destination = self._transfer.destination._replace(path=part.path)
        self._call(self._transfer._replace(destination=destination), part)

    def _send(self, total: int | None) -> None:
        self._call(self._transfer, None)

    def _call(self, transfer: Transfer, part: LocalPart | None) -> None:
        source, destination = transfer.source, transfer.destination
        variables = {
            "STORK_SRC_URL": source.with_secrets(),
            "STORK_DEST_URL": destination.with_secrets(),
            "STORK_CRED_NAME": transfer.credential,
            "STORK_CHECKSUM": transfer.checksum,
            "STORK_IF_EXISTS": transfer.if_exists,
        }
        urls = [site_modules.argument(source), site_modules.argument(destination)]
        words = [self._path, *urls, *transfer.arguments]
        ended = self._run(words, variables, part, Streams(*transfer.files))
        if ended.code:
            server = source.server or destination.server
            raise site_modules.fault_of(
                os.path.basename(self._path), ended, server, source, destination
            )


def _find(transfer: Transfer, surroundings: Surroundings) -> tuple[str, str]:
    name = f"stork.transfer.{transfer.source.scheme}-{transfer.destination.scheme}"
    return site_programs.find([name], surroundings.settings.module_directories)
