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
_REFERENCE_OR_DEFAULT = re.compile(r"(?<!\$)\$\(([A-Za-z_]\w*)(?::([^()$]*))?\)")

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
accounting_group accounting_group_user accountinggroup acctgroupuser allow_arguments_v1
allow_environment_v1 allow_startup_script allowed_execute_duration allowed_job_duration
allowedexecuteduration allowedjobduration append_files appendfiles arc_application arc_data_staging
arc_resources arc_rte args arguments arguments2 aws_access_key_id_file aws_region
aws_secret_access_key_file awsregion azure_admin_key azure_admin_username azure_auth_file
azure_image azure_location azure_size batch_extra_submit_args batch_id batch_name batch_project
batch_queue batch_runtime boinc_authenticator_file buffer_block_size buffer_files buffer_size
bufferblocksize bufferfiles buffersize checkpoint_destination checkpoint_exit_code
checkpointdestination cloud_label_names cloud_label_values cmd common_input_files commoninputfiles
compress_files compressfiles concurrency_limits concurrency_limits_expr container_image
container_is_common container_service_names container_target_dir containerimage containeriscommon
containerservicenames containertargetdir copy_to_spool core_size coresize cpus cron_day_of_month
cron_day_of_week cron_hour cron_minute cron_month cron_prep_time cron_window crondayofmonth
crondayofweek cronhour cronminute cronmonth cuda_version cudaversion dag_node_name dagman_job_id
dagman_log dagmannodeslog deferral_prep_time deferral_time deferral_window deferraltime
delegate_job_gsi_credentials_lifetime delegatejobgsicredentialslifetime description disk disk_usage
diskusage docker_image docker_network_type docker_override_entrypoint docker_pull_policy
docker_send_credentials dockerimage dockernetworktype dockeroverrideentrypoint dockerpullpolicy
dockersendcredentials dont_encrypt_input_files dont_encrypt_output_files dontencryptinputfiles
dontencryptoutputfiles dynamic_shared_memory ec2_access_key_id ec2_ami_id ec2_availability_zone
ec2_block_device_mapping ec2_ebs_volumes ec2_elastic_ip ec2_iam_profile_arn ec2_iam_profile_name
ec2_instance_type ec2_keypair ec2_keypair_file ec2_parameter_names ec2_secret_access_key
ec2_security_groups ec2_security_ids ec2_spot_price ec2_tag_names ec2_user_data ec2_user_data_file
ec2_vpc_ip ec2_vpc_subnet ec2accesskeyid ec2secretaccesskey email_attributes emailattributes
encrypt_execute_directory encrypt_input_files encrypt_output_files encryptexecutedirectory
encryptinputfiles encryptoutputfiles env environment environment2 erase_output_and_error_on_restart
eraseoutputanderroronrestart err error executable fetch_files fetchfiles file_remaps fileremaps
gce_account gce_auth_file gce_image gce_json_file gce_machine_type gce_metadata gce_metadata_file
gce_preemptible get_env getenv getenvironment global_job_id gpus gpus_maximum_capability
gpus_maximum_runtime gpus_minimum_capability gpus_minimum_memory gpus_minimum_runtime grid_resource
gs_access_key_id_file gs_secret_access_key_file hold hold_kill_sig holdkillsig image_size imagesize
initial_dir initialdir input interactive_args interactive_executable ipc_scope isnoopjob jar_files
jarfiles java_vm_args java_vm_arguments java_vm_arguments2 javavmargs job_ad_information_attrs
job_iwd job_lease_duration job_machine_attrs job_machine_attrs_history_length job_max_vacate_time
job_prio jobadinformationattrs jobbatchid jobbatchname jobdescription jobleaseduration
jobmachineattrs jobmachineattrshistorylength jobmaterializelimit jobmaterializemaxidle jobmaxretries
jobmaxvacatetime jobnotification jobprio jobset jobsetname jobstarterdebug jobstarterlog
jobsuccessexitcode jobuniverse keep_claim_idle keepclaimidle keystore_alias keystore_file
keystore_passphrase_file kill_sig kill_sig_timeout killsigtimeout lastmatchlistlength lease_duration
leave_in_queue leavejobinqueue load_profile loadprofile local_files localfiles log log_xml
machine_count manifest manifest_dir manifest_file manifestdesired manifestdir match_list_length
materialize_max_idle max_idle max_job_retirement_time max_materialize max_retries
max_transfer_input_mb max_transfer_output_mb maxjobretirementtime maxtransferinputmb
maxtransferoutputmb memory mount_under_scratch mountunderscratch mpi_script my_proxy_credential_name
next_job_start_delay nextjobstartdelay nice_user niceuser noop_job noop_job_exit_code
noop_job_exit_signal noopjobexitcode noopjobexitsignal notification notify_user notifyuser
oauth_permissions oauth_resource on_evict_checks on_exit_hold on_exit_hold_reason
on_exit_hold_subcode on_exit_remove onexithold onexitholdreason onexitholdsubcode onexitremove out
output output_destination output_directory outputdestination outputdirectory parallel_script_shadow
parallel_script_starter parallelscriptshadow parallelscriptstarter periodic_hold
periodic_hold_reason periodic_hold_subcode periodic_release periodic_remove periodic_remove_reason
periodic_vacate periodichold periodicholdreason periodicholdsubcode periodicrelease periodicremove
periodicvacate post_arguments post_cmd pre_arguments pre_cmd prefered_machines preferences
preserve_relative_executable preserve_relative_paths preserverelativepaths primary_unix_group
primaryunixgroup prio priority project_name projectname public_input_files publicinputfiles ram_disk
rank ranking raw remote_grid_resource remote_initialdir remote_remote_grid_resource
remote_remote_gridresource remote_remote_jobuniverse remote_remote_universe remote_universe
remoteiwd remove_kill_sig removekillsig request_cpus request_disk request_gpu_memory request_gpus
request_memory request_sandbox_location requestcpus requestdisk requestgpus requestmemory
require_cuda_version require_gpus requirements retry_request_disk retry_request_memory
retry_request_memory_increase retry_request_memory_max retry_until rmkill_sig run_as_owner
runasowner s3_access_key_id_file s3_secret_access_key_file scitoken_file scitokens_file
scitokensfile scratch send_credential shared_port_address shell ship_executable
should_transfer_files shouldtransferfiles singularity_image skip_filechecks skip_if_dataflow
skipifdataflow ssh_keypair stack_size stacksize staging_dir start_after starter_debug starter_log
stderr stdin stdout stream_error stream_input stream_output streamerr streamin streamout
submit_event_notes submit_event_notes_attrs submit_event_user_notes submiteventnotes
submiteventnotesattrs submiteventusernotes submitfailemptyfields submitfailemptymatches
submitwarnduplicatematches submitwarnemptyfields submitwarnemptymatches success_exit_code
successcheckpointexitcode suspend_job_at_exit tool_daemon_args tool_daemon_arguments tool_daemon_cmd
tool_daemon_error tool_daemon_input tool_daemon_output tooldaemonargs tooldaemoncmd tooldaemonerror
transfer_checkpoint_files transfer_common_input transfer_container transfer_error
transfer_executable transfer_files transfer_input transfer_input_files transfer_output
transfer_output_files transfer_output_remaps transfer_plugins transfercheckpoint transfercontainer
transfererr transferexecutable transferin transferinputfiles transferout transferoutputfiles
transferoutputremaps transformonevict ulog_execute_attrs universe unset_environment
use_oauth_services use_scitoken use_scitokens use_x509userproxy useoauthservices
user_log_execute_attrs userlogexecuteeventattrs userlogusexml vacate_job vm_checkpoint vm_disk
vm_macaddr vm_memory vm_networking vm_networking_type vm_no_output_vm vm_type vm_vcpus vm_vnc
want_graceful_removal want_io_proxy want_job_networking want_name_tag
want_parallel_scheduling_groups want_remote_io want_remote_updates_stdio wantgracefulremoval
wantioproxy wantjobnetworking wantparallelscheduling when_to_transfer_output whentotransferoutput
x509userproxy xcount xen_initrd xen_kernel xen_kernel_params xen_root
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
    in it than plain macros.  A default counts for an empty macro as well; with blanks in it,
    HTCondor (25.14) takes a reference for none.
    """
    for _ in range(MAX_EXPANSIONS):
        if "$" not in value:
            return value
        unknown = False

        def replacement(found: re.Match[str]) -> str:
            nonlocal unknown
            new = look_up(found.group(1).lower())
            if not new and found.group(2) is not None:
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
