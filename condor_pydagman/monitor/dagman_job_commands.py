"""What people ask the schedd to do with a DAGMan job: remove, hold or release it.

htcondor2 is imported with the first request.
"""

from __future__ import annotations

from condor_pydagman.errors import PoolError, bindings_missing
from condor_pydagman.printable import message

_REASON = "by condor_pydagman.DagRun"
_DONE = ("TotalSuccess", "TotalAlreadyDone")
_REFUSALS = {
    "TotalPermissionDenied": "it is somebody else's",
    "TotalBadStatus": "its state does not allow it",
    "TotalNotFound": "it is not in the queue",
    "TotalError": "the schedd could not do it",
}


def act_on(cluster: int, action: str, reason: str = "") -> None:
    """Do something with a DAGMan job.

    Args:
        action: `Remove`, `Hold` or `Release`, a JobAction of the bindings.
        reason: for the job's ad and log, as one line; the schedd would lose one with a `"`.

    Raises:
        PoolError: the schedd does not answer, or refuses; the job is not in the queue, say.
    """
    what = f"can't {action.lower()} DAGMan's job {cluster}"
    try:
        import htcondor2
    except ImportError as error:
        raise PoolError(f"{what}: {bindings_missing(error)}", transient=False) from None
    which = f"ClusterId == {cluster} && ProcId == 0 && JobUniverse == 7"
    said = message(reason).replace('"', "'") or _REASON
    try:
        # The bindings ignore a reason without a code, but for a release.
        why = said if action == "Release" else (said, 0)
        answer = htcondor2.Schedd().act(getattr(htcondor2.JobAction, action), which, why)
    except (htcondor2.HTCondorException, OSError, RuntimeError) as error:
        from condor_pydagman.adapters.descriptions import reason_of

        raise PoolError(f"{what}: {reason_of(error)}", transient=True) from None
    if not any(answer.get(name, 0) for name in _DONE):
        told = (words for name, words in _REFUSALS.items() if answer.get(name, 0))
        refusal = next(told, _REFUSALS["TotalNotFound"])
        if action == "Release" and refusal == _REFUSALS["TotalNotFound"]:
            refusal += ", or not on hold"
        raise PoolError(f"{what}: {refusal}", transient=False)
