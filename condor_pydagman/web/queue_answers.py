"""What the schedd says of the user's DAGs, asked by a process of its own.

HTCondor's bindings stop the whole process while they wait for the schedd, minutes if it hangs.  So
a child process asks, one at a time, and ends; what it said last is kept for a few seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.adapters.python_child import python_command
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import MORE_HELD

FRESH_S = 5.0
PATIENCE_S = 20.0  # for the schedd
MAX_BYTES = 64 << 20  # of an answer
Ad = Mapping[str, Any]
_HELD_FROM_THE_BEGIN = "JobStatus == 5 && HoldReasonCode == 15"  # which no log tells
_UNIVERSE = 7  # of DAGMan's jobs


class QueueAnswers:
    """The ads of the user's DAGMan jobs."""

    def __init__(self) -> None:
        self.ads: dict[int, Ad] = {}  # by cluster, as they were when the schedd answered last
        self.problem = "the schedd has not been asked yet"  # why it has not, '' if it has
        self._asked = 0.0
        self._asking = asyncio.Lock()

    def ad(self, cluster: int) -> Ad:
        """The ad of a DAGMan job in the queue; {} if it is not there.  For any thread.

        Raises:
            PoolError: the schedd does not answer.
        """
        if self.problem:
            raise PoolError(self.problem, transient=True)
        return self.ads.get(cluster, {})

    async def refresh(self) -> None:
        """Ask the schedd, unless it has been asked just now."""
        async with self._asking:
            if self._asked and time.monotonic() < self._asked + FRESH_S:
                return
            try:
                text = await output_of("condor_pydagman.web.queue_answers", [], PATIENCE_S)
                self.ads = {int(ad["ClusterId"]): ad for ad in json.loads(text)}
                self.problem = ""
            except PoolError as error:
                self.problem = str(error)
            except (ValueError, KeyError, TypeError):
                self.problem = "can't read the answer of the schedd"
            self._asked = time.monotonic()


async def output_of(module: str, words: Sequence[str], patience_s: float) -> str:
    """What `main` of a module prints, in a process of its own; it returns the exit code.

    Raises:
        PoolError: it has failed, with the last line that it wrote to standard error; or it takes
            longer than that many seconds.
    """
    statements = f"from {module} import main; sys.exit(main(sys.argv[1:]))"
    pipe = asyncio.subprocess.PIPE
    try:
        child = await asyncio.create_subprocess_exec(
            *python_command(statements, *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            limit=MAX_BYTES,
        )
    except OSError as error:
        raise PoolError(f"no process can be started: {error.strerror}", transient=True) from None
    try:
        out, said = await asyncio.wait_for(child.communicate(), patience_s)
    except (asyncio.TimeoutError, TimeoutError):
        problem = f"there was no answer in {patience_s:g} s"
        raise PoolError(problem, transient=True) from None
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    lines = said.decode("utf-8", "replace").strip().splitlines()
    if child.returncode and not out:
        problem = lines[-1] if lines else f"exit code {child.returncode}"
        raise PoolError(problem, transient=False)
    return out.decode("utf-8", "replace")


def plain(ad: Ad) -> dict[str, Any]:
    """What JSON can hold of an ad."""
    kinds = (str, int, float, bool)
    return {name: value for name, value in dict(ad).items() if isinstance(value, kinds)}


def main(words: Sequence[str]) -> int:
    """The child process: prints the ads as JSON."""
    from condor_pydagman.monitor.schedd_queries import my_dagman_ads

    try:
        ads = my_dagman_ads(also=_HELD_FROM_THE_BEGIN)
    except PoolError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    found = [plain(ad) for ad in ads if ad["JobUniverse"] == _UNIVERSE]
    more = Counter(ad.get("DAGManJobId") for ad in ads if ad["JobUniverse"] != _UNIVERSE)
    for ad in found:
        ad[MORE_HELD] = int(ad.get(MORE_HELD) or 0) + more[ad["ClusterId"]]
    sys.stdout.write(json.dumps(found))
    return 0
