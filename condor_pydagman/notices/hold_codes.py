"""What HoldReasonCode says, and what helps.

Source: manual, "Job ClassAd Attributes", HoldReasonCode.
"""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple


class HoldCode(NamedTuple):
    """A value of HoldReasonCode: why jobs are held, and what can be done."""

    meaning: str
    advice: str = ""


RELEASE = "Then release them: {release}"
_OUTPUT = "Check the directory of `output`, `error` and `log` in the submit file: does it exist,"
_OUTPUT += " can the job's owner write there, is the disk full?"
_INPUT = "Check `input` and transfer_input_files in the submit file: does each file exist, can the"
_INPUT += " job's owner read it?"
_MEMORY = "The job used more than it requested: set request_memory (or request_disk, request_cpus)"
_MEMORY += " in the submit file for later attempts, and condor_qedit {jobs} RequestMemory N for"
_MEMORY += " these jobs."
_POLICY = "The expression in the reason became true: fix what it tests, or the expression."
_SUBSYSTEM = (
    "An administrator's policy holds such jobs: ask the administrator, or change what it tests."
)
_CREDENTIAL = "Make the credential valid again (condor_store_cred, or the token of the service)."

HOLD_CODES: dict[int, HoldCode] = {
    1: HoldCode("someone used condor_hold"),
    3: HoldCode("the job's policy (periodic_hold or on_exit_hold)", _POLICY),
    4: HoldCode("its credential is not valid", _CREDENTIAL),
    5: HoldCode("an expression of the job's policy is undefined", _POLICY),
    6: HoldCode(
        "its executable could not be started",
        "Check `executable` in the submit file: does the file exist on that machine, is it"
        " executable, does the interpreter in its first line exist?",
    ),
    7: HoldCode("its output file could not be opened", _OUTPUT),
    8: HoldCode("its input file could not be opened", _INPUT),
    9: HoldCode("its output stream could not be opened", _OUTPUT),
    10: HoldCode("its input stream could not be opened", _INPUT),
    12: HoldCode(
        "its output files could not be transferred",
        "Does the job create each file of transfer_output_files? " + _OUTPUT,
    ),
    13: HoldCode("its input files could not be transferred", _INPUT),
    14: HoldCode(
        "its initial directory is not accessible",
        "Check initialdir in the submit file, and DIR in the DAG file.",
    ),
    15: HoldCode("it was submitted on hold (hold = true)"),
    16: HoldCode("its input files are being spooled", "Wait until condor_submit -spool has ended."),
    20: HoldCode("the time of its deferred execution was missed", "Set deferral_window."),
    21: HoldCode("the machine's policy (WANT_HOLD)", _SUBSYSTEM),
    22: HoldCode("its log could not be opened", _OUTPUT),
    23: HoldCode("its owner has no usable account here"),
    26: HoldCode("the administrator's policy (SYSTEM_PERIODIC_HOLD)", _SUBSYSTEM),
    32: HoldCode("its input is larger than permitted", "See max_transfer_input_mb."),
    33: HoldCode("its output is larger than permitted", "See max_transfer_output_mb."),
    34: HoldCode("it used more resources than it was given", _MEMORY),
    35: HoldCode("its container image is not valid", "Check container_image or docker_image."),
    36: HoldCode("its checkpoint could not be transferred", "Check checkpoint_destination."),
    46: HoldCode("the container runtime of the machine does not work"),
    47: HoldCode("it took longer than allowed_job_duration", "Set a longer allowed_job_duration."),
    48: HoldCode(
        "it ran longer than allowed_execute_duration", "Set a longer allowed_execute_duration."
    ),
}


def hold_code(code: int) -> HoldCode:
    """What is known of a code."""
    return HOLD_CODES.get(code, HoldCode("see the reason"))
