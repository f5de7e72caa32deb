"""A simple reader of submit descriptions: which macros they set and use, as far as a text tells.

It reads `key = value`, `queue` and `$(macro)`.  Where a description does more (include, if, use,
macros in the names of macros), it says so, and no rule claims anything of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from condor_pydagman.named_tuple import NamedTuple

_ASSIGNMENT = re.compile(r"([+A-Za-z_][\w.+$()-]*)\s*=(.*)", re.DOTALL)
_QUEUE = re.compile(r"queue\b(.*)", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ANY_REFERENCE = re.compile(r"\$\w*\(([^()]*)")
_REFERENCE = re.compile(r"(?<!\$)\$\(\s*([A-Za-z_]\w*)\s*\)")
_REFERENCE_OR_DEFAULT = re.compile(r"(?<!\$)\$\(\s*([A-Za-z_]\w*)\s*(?::([^()$]*))?\)")

MAX_EXPANSIONS = 20
MAX_LENGTH = 10_000

# Macros that condor_submit or DAGMan sets for every job (manual: "condor_submit", "Macros in
# submit description files"; "Special macros" of VARS).
_SPECIAL_NAMES = """
cluster clusterid process procid step row node item itemindex submit_file submit_time year month
day dollar job jobname retry dag_status failed_count dag_id dagmanjobid dagnodename
dagmannoderetry dag_parent_names dagparentnodenames my_job nodename arch opsys opsysver
opsysandver opsysmajorver opsysname opsysshortname opsyslongname spool lib home user username
owner
"""
SPECIAL = frozenset(_SPECIAL_NAMES.split())

# Commands of the submit language (manual: "condor_submit"); VARS may set them instead of a macro.
_KEYWORDS_NAMES = """
accounting_group accounting_group_user allow_startup_script allowed_execute_duration
allowed_job_duration append_files arc_application arc_data_staging arc_resources arc_rte args
arguments aws_access_key_id_file aws_region aws_secret_access_key_file azure_admin_key
azure_admin_username azure_auth_file azure_image azure_location azure_size
batch_extra_submit_args batch_name batch_id batch_project batch_queue batch_runtime
boinc_authenticator_file buffer_block_size buffer_files buffer_size checkpoint_exit_code
cloud_label_names cloud_label_values cmd common_input_files compress_files concurrency_limits
concurrency_limits_expr container_image container_service_names container_target_dir
copy_to_spool coresize cpus cron_day_of_month cron_day_of_week cron_hour cron_minute cron_month
cron_prep_time cron_window cuda_version dagman_log deferral_prep_time deferral_time
deferral_window delegate_job_gsi_credentials_lifetime description disk docker_image
docker_network_type docker_override_entrypoint docker_pull_policy docker_send_credentials
dont_encrypt_input_files dont_encrypt_output_files dynamic_shared_memory ec2_access_key_id
ec2_ami_id ec2_availability_zone ec2_block_device_mapping ec2_ebs_volumes ec2_elastic_ip
ec2_iam_profile_arn ec2_iam_profile_name ec2_instance_type ec2_keypair ec2_keypair_file
ec2_parameter_names ec2_secret_access_key ec2_security_groups ec2_security_ids ec2_spot_price
ec2_tag_names ec2_user_data ec2_user_data_file ec2_vpc_ip ec2_vpc_subnet email_attributes
encrypt_execute_directory encrypt_input_files encrypt_output_files env environment err error
erase_output_and_error_on_restart executable fetch_files file_remaps gce_account gce_auth_file
gce_image gce_json_file gce_machine_type gce_metadata gce_metadata_file gce_preemptible getenv
getenvironment global_job_id gpus gpus_maximum_capability gpus_maximum_runtime
gpus_minimum_capability gpus_minimum_memory gpus_minimum_runtime grid_resource hold
hold_kill_sig image_size initial_dir initialdir input ipc_scope jar_files java_vm_args
job_ad_information_attrs job_lease_duration job_machine_attrs job_machine_attrs_history_length
job_max_vacate_time jobprio jobbatchname keep_claim_idle keystore_alias keystore_file
keystore_passphrase_file kill_sig kill_sig_timeout lease_duration leave_in_queue load_profile
local_files log log_xml machine_count manifest manifest_dir match_list_length max_idle
max_job_retirement_time max_materialize max_retries max_transfer_input_mb max_transfer_output_mb
memory mpi_script my_proxy_credential_name nice_user next_job_start_delay noop_job
noop_job_exit_code noop_job_exit_signal notification notify_user on_exit_hold
on_exit_hold_reason on_exit_hold_subcode on_exit_remove oauth_permissions oauth_resource out
output output_destination parallel_script_shadow periodic_hold periodic_hold_reason
periodic_hold_subcode periodic_release periodic_remove periodic_remove_reason periodic_vacate
post_arguments post_cmd pre_arguments pre_cmd preserve_relative_executable
preserve_relative_paths prefered_machines primary_unix_group priority prio public_input_files
ram_disk rank ranking raw remote_initialdir request_cpus request_disk request_gpus
request_memory requirements require_cuda_version require_gpus retry_request_memory
retry_request_memory_increase retry_request_memory_max retry_until rmkill_sig run_as_owner
scratch scitoken_file send_credential shared_port_address should_transfer_files ship_executable
singularity_image skip_filechecks ssh_keypair stack_size start_after staging_dir stderr stdin
stdout stream_error stream_input stream_output submit_event_notes submit_event_user_notes
success_exit_code suspend_job_at_exit tool_daemon_args tool_daemon_arguments tool_daemon_cmd
tool_daemon_error tool_daemon_input tool_daemon_output transfer_checkpoint_files
transfer_container transfer_error transfer_executable transfer_files transfer_input
transfer_input_files transfer_output transfer_output_files transfer_output_remaps
transfer_plugins ulog_execute_attrs universe unset_environment use_oauth_services use_scitokens
user_log_execute_attrs vacate_job vm_checkpoint vm_disk vm_macaddr vm_memory vm_networking
vm_networking_type vm_no_output_vm vm_type vm_vcpus vm_vnc want_graceful_removal want_io_proxy
want_name_tag want_parallel_scheduling_groups want_remote_updates_stdio want_remote_io
when_to_transfer_output x509userproxy xen_initrd xen_kernel xen_kernel_params xen_root
manifest_file job_prio xcount
"""
KEYWORDS = frozenset(_KEYWORDS_NAMES.split())


class SubmitText(NamedTuple):
    """What a submit description says.

    Attributes:
        values: value of each key; keys in lower case, the last value of a key.
        mentioned: lower-case names that stand anywhere inside `$(...)` or `$FUNCTION(...)`.
        needed: names in `$(name)` without default, as they are written.
        loops: lower-case names that the queue statement sets for each job.
        plain: whether this is all that it says; else no claim can be made.
        queue: what follows the word `queue`.
    """

    values: dict[str, str]
    mentioned: frozenset[str]
    needed: tuple[str, ...]
    loops: frozenset[str]
    plain: bool
    queue: str = ""


def parse(text: str) -> SubmitText:
    """Read a submit description, up to its first queue statement."""
    values: dict[str, str] = {}
    needed: dict[str, None] = {}
    loops: frozenset[str] = frozenset()
    used: set[str] = set()
    plain, arguments = True, ""
    for line in _logical(text):
        used |= mentioned(line)
        queue = _QUEUE.fullmatch(line)
        assignment = None if queue else _ASSIGNMENT.fullmatch(line)
        if queue and not queue.group(1).lstrip().startswith("="):
            plain = plain and "matching" not in line.lower()
            arguments = queue.group(1)
            loops = frozenset(name.lower() for name in _NAME.findall(queue.group(1)))
            needed.update(dict.fromkeys(_REFERENCE.findall(queue.group(1))))
            break
        if assignment is None or "$" in assignment.group(1):
            plain = False
            continue
        values[assignment.group(1).lower()] = assignment.group(2).strip()
    for value in values.values():
        needed.update(dict.fromkeys(_REFERENCE.findall(value)))
    return SubmitText(values, frozenset(used), tuple(needed), loops, plain, arguments)


def mentioned(text: str) -> set[str]:
    """Lower-case names inside every `$(...)` and `$FUNCTION(...)` of a text."""
    if "$" not in text:
        return set()
    return {
        name.lower() for inside in _ANY_REFERENCE.findall(text) for name in _NAME.findall(inside)
    }


def expand(value: str, look_up: Callable[[str], str | None]) -> str | None:
    """`value` with every macro replaced by what `look_up` gives for its lower-case name.

    None if that can't be told: `look_up` gives None for a macro without default, or there is more
    in it than plain macros.
    """
    for _ in range(MAX_EXPANSIONS):
        if "$" not in value:
            return value
        unknown = False

        def replacement(found: re.Match[str]) -> str:
            nonlocal unknown
            new = look_up(found.group(1).lower())
            if new is None:
                new = found.group(2)
            unknown = unknown or new is None
            return new or ""

        value, count = _REFERENCE_OR_DEFAULT.subn(replacement, value)
        if unknown or not count or len(value) > MAX_LENGTH:
            return None
    return None


def _logical(text: str) -> Iterator[str]:
    """Trimmed lines, continued ones joined, without comments and empty ones."""
    begun = ""
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("#"):
            continue
        begun += line
        if begun.endswith("\\"):
            begun = begun[:-1]
            continue
        if begun:
            yield begun
        begun = ""
    if begun:
        yield begun


# Which macros a value of a submit description refers to (manual: "Predefined Macros", "Function
# Macros").
#
# In some functions words stand for themselves: `$ENV(HOME)` uses no macro HOME.

_OPENING = re.compile(r"(?<!\$)\$(\w*)\(")  # `$$(x)` is an attribute of the machine
_PARENTHESIS = re.compile(r"[()]")
_LITERAL = ("env", "random_choice", "random_integer")
_WHOLE = ("eval", "substr")


def references(value: str, is_set: Callable[[str], bool] = lambda name: False) -> set[str]:
    """Lower-case names of the macros that a value refers to by itself.

    Args:
        is_set: whether a macro has a value; then its default, `$(NAME:DEFAULT)`, is not used.
    """
    found: set[str] = set()
    opening = _OPENING.search(value) if "$" in value else None
    closings = _closings(value) if opening is not None else {}
    while opening is not None:
        place = opening.end()
        function = opening[1].lower()
        inside = value[place : closings.get(place, place)]
        name, colon, _ = inside.partition(":")
        if function:
            found |= _arguments(function, inside)
        elif _NAME.fullmatch(name):
            found.add(name.lower())
            if colon and is_set(name.lower()):
                place += len(inside)
        opening = _OPENING.search(value, place)
    return found


def _arguments(function: str, inside: str) -> set[str]:
    """Names of macros among the arguments of a function, but for what is in `$(...)` there."""
    if function in _LITERAL:
        return set()
    if function in _WHOLE:
        return {name.lower() for name in _NAME.findall(inside)}
    words = [word.strip() for word in inside.split(",")]
    lists = function == "choice" and len(words) == 2  # the second one is the name of a list
    return {word.lower() for word in words[: 2 if lists else 1] if _NAME.fullmatch(word)}


def _closings(value: str) -> dict[int, int]:
    """Where what stands in parentheses ends, by where it begins; what has no end is left out."""
    found, open_now = {}, []
    for parenthesis in _PARENTHESIS.finditer(value):
        if parenthesis[0] == "(":
            open_now.append(parenthesis.end())
        elif open_now:
            found[open_now.pop()] = parenthesis.start()
    return found
