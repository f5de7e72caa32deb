"""Which commands of a submit description condor_submit looks at, and when.

Found out by giving each name to condor_dag_checker 25.14.1, alone and beside each of the others.
A word `a=b` means: `b` is another name of `a`, and is ignored where `a` is given.
"""

from __future__ import annotations

_ALWAYS = """
accounting_group=accountinggroup accounting_group_user=acctgroupuser allow_arguments_v1
allow_environment_v1 allowed_execute_duration=allowedexecuteduration
allowed_job_duration=allowedjobduration append_files=appendfiles arguments2 arguments=args
aws_access_key_id_file aws_region=awsregion aws_secret_access_key_file batch_id=jobbatchid
batch_name=jobbatchname buffer_block_size=bufferblocksize buffer_files=bufferfiles
buffer_size=buffersize checkpoint_destination=checkpointdestination
checkpoint_exit_code=successcheckpointexitcode compress_files=compressfiles concurrency_limits
concurrency_limits_expr container_is_common=containeriscommon
container_service_names=containerservicenames container_target_dir=containertargetdir
core_size=coresize cron_day_of_month=crondayofmonth cron_day_of_week=crondayofweek
cron_hour=cronhour cron_minute=cronminute cron_month=cronmonth cuda_version=cudaversion
dag_node_name=dagnodename dagman_job_id=dagmanjobid dagman_log=dagmannodeslog
deferral_time=deferraltime delegate_job_gsi_credentials_lifetime=delegatejobgsicredentialslifetime
description=jobdescription disk_usage=diskusage docker_network_type=dockernetworktype
docker_override_entrypoint=dockeroverrideentrypoint docker_pull_policy=dockerpullpolicy
docker_send_credentials dockersendcredentials dont_encrypt_input_files=dontencryptinputfiles
dont_encrypt_output_files=dontencryptoutputfiles ec2accesskeyid ec2secretaccesskey
email_attributes=emailattributes encrypt_execute_directory=encryptexecutedirectory
encrypt_input_files=encryptinputfiles encrypt_output_files=encryptoutputfiles env environment
environment2 erase_output_and_error_on_restart=eraseoutputanderroronrestart error=stderr
executable=cmd fetch_files=fetchfiles file_remaps=fileremaps getenv=get_env gs_access_key_id_file
gs_secret_access_key_file hold hold_kill_sig=holdkillsig image_size=imagesize
initialdir=initial_dir=job_iwd=iwd input=stdin interactive_args interactive_executable
jar_files=jarfiles java_vm_args java_vm_arguments2 java_vm_arguments=javavmargs
job_ad_information_attrs=jobadinformationattrs job_lease_duration=jobleaseduration
job_machine_attrs=jobmachineattrs job_machine_attrs_history_length=jobmachineattrshistorylength
job_max_vacate_time=jobmaxvacatetime jobset=jobsetname keep_claim_idle=keepclaimidle
kill_sig=killsig kill_sig_timeout=killsigtimeout leave_in_queue=leavejobinqueue
load_profile=loadprofile local_files=localfiles log=userlog log_xml=userlogusexml
manifest=manifestdesired manifest_dir=manifestdir match_list_length=lastmatchlistlength
max_idle=jobmaterializemaxidle=materialize_max_idle max_job_retirement_time=maxjobretirementtime
max_materialize=jobmaterializelimit max_retries=jobmaxretries
max_transfer_input_mb=maxtransferinputmb max_transfer_output_mb=maxtransferoutputmb
mount_under_scratch=mountunderscratch next_job_start_delay=nextjobstartdelay nice_user=niceuser
noop_job=isnoopjob noop_job_exit_code=noopjobexitcode noop_job_exit_signal=noopjobexitsignal
notification=jobnotification notify_user=notifyuser on_evict_checks=transformonevict
on_exit_hold=onexithold on_exit_hold_reason=onexitholdreason on_exit_hold_subcode=onexitholdsubcode
on_exit_remove=onexitremove output=stdout output_destination=outputdestination
output_directory=outputdirectory parallel_script_shadow=parallelscriptshadow
parallel_script_starter=parallelscriptstarter periodic_hold=periodichold
periodic_hold_reason=periodicholdreason periodic_hold_subcode=periodicholdsubcode
periodic_release=periodicrelease periodic_remove=periodicremove periodic_vacate=periodicvacate
preserve_relative_paths=preserverelativepaths primary_unix_group=primaryunixgroup
priority=jobprio=prio project_name=projectname public_input_files=publicinputfiles rank=preferences
remote_initialdir=remoteiwd remote_remote_grid_resource=remote_remote_gridresource
remote_remote_universe=remote_remote_jobuniverse remove_kill_sig=removekillsig
request_cpus=requestcpus request_disk=requestdisk request_gpus=requestgpus
request_memory=requestmemory request_sandbox_location requirements retry_request_memory
retry_request_memory_increase retry_request_memory_max retry_until run_as_owner=runasowner
s3_access_key_id_file s3_secret_access_key_file scitokens_file=scitokensfile shell
should_transfer_files shouldtransferfiles skip_filechecks skip_if_dataflow=skipifdataflow
stack_size=stacksize starter_debug=jobstarterdebug starter_log=jobstarterlog stream_error=streamerr
stream_input=streamin stream_output=streamout submit_event_notes=submiteventnotes
submit_event_notes_attrs=submiteventnotesattrs submit_event_user_notes=submiteventusernotes
success_exit_code=jobsuccessexitcode tool_daemon_cmd=tooldaemoncmd
transfer_checkpoint_files=transfercheckpoint transfer_common_input=commoninputfiles
transfer_container=transfercontainer transfer_error=transfererr
transfer_executable=transferexecutable transfer_input=transferin
transfer_input_files=transferinputfiles transfer_output=transferout
transfer_output_files=transferoutputfiles transfer_output_remaps=transferoutputremaps
transfer_plugins=transferplugins ulog_execute_attrs=userlogexecuteeventattrs universe=jobuniverse
use_oauth_services=useoauthservices use_scitoken use_scitokens use_x509userproxy
want_graceful_removal=wantgracefulremoval want_io_proxy=wantioproxy
want_job_networking=wantjobnetworking when_to_transfer_output whentotransferoutput x509userproxy
"""
_GRID = """
arc_application=arcapplication arc_data_staging=arcdatastaging arc_resources=arcresources
arc_rte=arcrte azure_admin_key=azureadminkey azure_admin_username=azureadminusername
azure_auth_file=azureauthfile azure_image=azureimage azure_location=azurelocation
azure_size=azuresize batch_extra_submit_args=batchextrasubmitargs batch_project=batchproject
batch_queue=batchqueue batch_runtime=batchruntime cloud_label_names=cloudlabelnames
cloud_label_values ec2_access_key_id ec2_ami_id=ec2amiid
ec2_availability_zone=ec2availabilityzone ec2_block_device_mapping=ec2blockdevicemapping
ec2_ebs_volumes ec2_elastic_ip=ec2elasticip ec2_iam_profile_arn=ec2iamprofilearn
ec2_iam_profile_name=ec2iamprofilename ec2_instance_type=ec2instancetype ec2_keypair=ec2keypair
ec2_keypair_file=ec2keypairfile ec2_parameter_names=ec2paramnames ec2_secret_access_key
ec2_security_groups=ec2securitygroups ec2_security_ids=ec2securityids
ec2_spot_price=ec2spotprice ec2_tag_names=ec2tagnames ec2_user_data=ec2userdata
ec2_user_data_file=ec2userdatafile ec2_vpc_ip=ec2vpcip ec2_vpc_subnet=ec2vpcsubnet
ec2elasticblockstoragevolumes gce_account=gceaccount gce_auth_file=gceauthfile
gce_image=gceimage gce_json_file=gcejsonfile gce_machine_type=gcemachinetype
gce_metadata=gcemetadata gce_metadata_file=gcemetadatafile gce_preemptible=gcepreemptible
grid_resource
"""
_VM = """
jobvm_macaddr jobvmcheckpoint jobvmnetworking jobvmnetworkingtype jobvmvncconsole vm_checkpoint
vm_disk vm_macaddr vm_memory vm_networking vm_networking_type vm_no_output_vm vm_type vm_vcpus
vm_vnc xen_initrd xen_kernel xen_kernel_params xen_root
"""
_IMAGES = "container_image=containerimage docker_image=dockerimage"


def _groups(words: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(word.split("=")) for word in words.split())


ALWAYS = _groups(_ALWAYS)

# By universe, name or number; `""` is that of jobs which run on machines of the pool.
_PARALLEL = _groups("machine_count=machinecount wantparallelscheduling")
BY_UNIVERSE = {
    "": _groups(_IMAGES),
    **dict.fromkeys(("grid", "9"), _groups(_GRID)),
    **dict.fromkeys(("vm", "13"), _groups(_VM)),
    **dict.fromkeys(("parallel", "11", "mpi", "8"), _PARALLEL),
    **dict.fromkeys(("scheduler", "7", "java", "10"), ()),
}

_TIMED = """
cron_minute cron_hour cron_day_of_month cron_month cron_day_of_week deferral_time
cronminute cronhour crondayofmonth cronmonth crondayofweek deferraltime
"""
# Commands that count beside one of others only: the others, and what they bring.
BESIDE = (
    (
        set(_TIMED.split()),
        _groups(
            "cron_prep_time=cronpreptime cron_window=cronwindow"
            " deferral_prep_time=deferralpreptime deferral_window=deferralwindow"
        ),
    ),
    (
        {"request_gpus", "requestgpus"},
        _groups(
            "gpus_maximum_capability=gpusmaxcapability gpus_minimum_capability=gpusmincapability"
            " gpus_minimum_memory=gpusminmemory gpus_minimum_runtime=gpusminruntime"
            " request_gpu_memory request_gpus_memory require_gpus=requiregpus"
        ),
    ),
    (
        {"tool_daemon_cmd", "tooldaemoncmd"},
        _groups(
            "suspend_job_at_exec=suspendjobatexec tool_daemon_args=tooldaemonargs"
            " tool_daemon_arguments tool_daemon_error=tooldaemonerror"
            " tool_daemon_input=tooldaemoninput tool_daemon_output=tooldaemonoutput"
        ),
    ),
)

# These are ignored where `shell` is given.
WITHOUT_SHELL = {"executable", "interactive_args", "interactive_executable", "transfer_executable"}

ALL = frozenset(
    name
    for groups in (ALWAYS, *BY_UNIVERSE.values(), *(brought for _, brought in BESIDE))
    for group in groups
    for name in group
)

# Names that are never called unused: macros that DAGMan sets for every node, switches of the queue
# statement.
_SILENT = """
dag_status failed_count job retry submit_file item submitwarnemptyfields submitwarnemptymatches
submitwarnduplicatematches submitfailemptyfields submitfailemptymatches
"""
SILENT = frozenset(_SILENT.split())
