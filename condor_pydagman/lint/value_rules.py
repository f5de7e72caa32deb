"""Values of submit commands that HTCondor refuses at submission, in its words.

The bindings have no submission on trial; these are the mistakes that people make in typing.  The
rules were found out by giving such values to condor_dag_checker 25.14.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from condor_pydagman.language.description import Queue
from condor_pydagman.language.hints import nearest
from condor_pydagman.language.quoted_words import parse_arguments, parse_quoted
from condor_pydagman.language.submit_commands import ALL
from condor_pydagman.language.submit_warnings import MISSPELLED

# The value of a command, macros expanded, by its lower-case name; '' if it is not there, None if it
# can't be told.
Get = Callable[[str], "str | None"]

DIRECTORIES = ("initialdir", "initial_dir", "job_iwd", "iwd")
PROXY = "x509userproxy"
_ARGUMENTS = ("arguments", "args")
_ENVIRONMENT = ("environment", "env")
_WORDS = {
    "notification": (
        ("never", "always", "complete", "start", "error"),
        "Notification must be 'Never', 'Always', 'Complete', 'Start', or 'Error'",
    ),
    "should_transfer_files": (
        ("yes", "true", "always", "no", "false", "never", "if_needed", "auto"),
        "ShouldTransferFiles must be YES, NO, or IF_NEEDED",
    ),
    "when_to_transfer_output": (
        ("on_exit", "on_exit_or_evict", "on_success", "always", "never"),
        "WhenToTransferOutput must be ON_EXIT, ON_EXIT_OR_EVICT, or ON_SUCCESS",
    ),
}
IMAGES = ("docker_image", "dockerimage", "container_image", "containerimage")
_EXPRESSIONS = {
    "requirements": "Requirements",
    "rank": "Rank",
    "preferences": "Rank",
    "periodic_hold": "PeriodicHold",
    "periodic_remove": "PeriodicRemove",
    "periodic_release": "PeriodicRelease",
    "periodic_vacate": "PeriodicVacate",
    "on_exit_hold": "OnExitHold",
    "on_exit_remove": "OnExitRemove",
    "leave_in_queue": "LeaveJobInQueue",
}
_RESOURCES = {"cpus": "Cpus", "gpus": "GPUs", "memory": "Memory", "disk": "Disk"}
_SIZE = re.compile(r"request_(?:memory|disk)=[\d.,]+\s*(?:[KMGT]B?)?", re.IGNORECASE)
_COUNTS = re.compile(r"\s*\d+[\s,]+\d")
_NO_COUNT = re.compile(r"-\d+|(?:\d+[\s,]+)?[A-Za-z_]\w*")
_NO_PROGRAM = ("vm", "docker", "container", "grid", "10", "13", "9")
_PROGRAMS = ("executable", "cmd", "shell")

# Names that the manual or other versions of HTCondor have for commands, beside those that
# condor_submit looks at; VARS may set them instead of a macro.
_OTHER_KEYWORDS = """
allow_startup_script boinc_authenticator_file common_input_files copy_to_spool cpus disk
dynamic_shared_memory err getenvironment global_job_id gpus gpus_maximum_runtime ipc_scope job_prio
keystore_alias keystore_file keystore_passphrase_file lease_duration manifest_file memory mpi_script
my_proxy_credential_name oauth_permissions oauth_resource out periodic_remove_reason post_arguments
post_cmd pre_arguments pre_cmd prefered_machines preserve_relative_executable ram_disk ranking raw
remote_grid_resource remote_universe require_cuda_version retry_request_disk rmkill_sig
scitoken_file scratch send_credential shared_port_address ship_executable singularity_image
ssh_keypair staging_dir start_after submitfailemptyfields submitfailemptymatches
submitwarnduplicatematches submitwarnemptyfields submitwarnemptymatches suspend_job_at_exit
transfer_files unset_environment user_log_execute_attrs vacate_job want_name_tag
want_parallel_scheduling_groups want_remote_io want_remote_updates_stdio xcount
"""
KEYWORDS = ALL | frozenset(_OTHER_KEYWORDS.split())

# All names of commands that are looked at, but those that `attribute_of` knows.
KEYS = (
    *("universe", PROXY),
    *(*DIRECTORIES, *_ARGUMENTS, *_ENVIRONMENT, *_WORDS, *IMAGES, *_PROGRAMS),
)


def attribute_of(key: str, value: str = "") -> str:
    """The job attribute that a command, in lower case, sets to the expression that is its value;
    '' if it sets something else."""
    resource = resource_of(key)
    if resource:
        attribute = f"Request{_RESOURCES.get(resource, resource)}"
        return "" if _SIZE.fullmatch(f"{key}={value}") else attribute
    if key.startswith("+"):
        return key[1:]
    if key.startswith("my."):
        return key[3:]
    return _EXPRESSIONS.get(key, "")


def resource_of(key: str) -> str:
    """The resource, perhaps of a pool's own, that a command, in lower case, requests; or ''."""
    name = key.removeprefix("request_")
    return name if name != key and (name in _RESOURCES or key not in ALL) else ""


def nearest_resource(key: str) -> str:
    """The command that was probably meant by the request for a resource of a pool's own; or ''."""
    name = "" if key in MISSPELLED else resource_of(key)  # which is told as of no use
    alike = [one for one in _RESOURCES if one[:1] == name[:1] and len(name) - len(one) < 2]
    meant = nearest(name, alike) if alike and name not in _RESOURCES else ""
    return f"request_{meant}" if meant else ""


def count_problem(queue: Queue) -> str:
    """What is wrong with the count of a queue statement; '' if nothing is."""
    arguments = queue.arguments
    wrong = _COUNTS.match(arguments) or (queue.items is None and _NO_COUNT.fullmatch(arguments))
    return f"Invalid queue args: {arguments}" if wrong else ""


def first_of(get: Get, names: tuple[str, ...]) -> str | None:
    """The value of a command that has several names: the first that is there."""
    for name in names:
        value = get(name)
        if value != "":
            return value
    return ""


def value_problems(get: Get) -> Iterator[tuple[str, str]]:
    """What is wrong, each with the name of its command."""
    universe = (get("universe") or "").strip().lower()
    for key, images in (("docker", IMAGES[:2]), ("container", IMAGES)):
        if universe == key and first_of(get, images) == "":
            wanted = "docker_image" if key == "docker" else "container_image or docker_image"
            yield "universe", f"{key} jobs require a {wanted}"
    needs_one = get("universe") is not None and universe not in _NO_PROGRAM
    if needs_one and first_of(get, (*_PROGRAMS, *IMAGES)) == "":
        yield "executable", "No 'executable' parameter was provided"
    for key, (words, message) in _WORDS.items():
        value = get(key)
        if value and value.strip().lower() not in words:
            yield key, message
    arguments = first_of(get, _ARGUMENTS) or ""
    problem = arguments_problem(arguments)
    if problem:
        shown = f"{problem}\nThe full arguments you specified were: {arguments.strip()}"
        yield "arguments", shown
    environment = first_of(get, _ENVIRONMENT) or ""
    problem = environment_problem(environment)
    if problem:
        shown = f"{problem}\nThe environment you specified was: '{environment.strip()}'"
        yield "environment", shown


def arguments_problem(text: str) -> str:
    """What is wrong with the quotes of arguments; '' if nothing is."""
    try:
        if '"' in text:  # few have one
            parse_arguments(text.strip())
    except ValueError as error:
        return str(error)
    return ""


def environment_problem(text: str) -> str:
    """What is wrong with an environment; '' if nothing is."""
    text = text.strip()
    entries = [one.strip() for one in text.split(";")]
    if text.startswith('"'):
        try:
            entries = parse_quoted(text)
        except ValueError as error:
            return str(error)
    wrong = next((one for one in entries if one and "=" not in one), "")
    return f"ERROR: Missing '=' after environment variable '{wrong}'." if wrong else ""
