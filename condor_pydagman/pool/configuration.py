"""The configuration of a personal pool, and a command of its own, as text.

The pool is for one user on one machine: it listens on the loopback interface only, and accepts only
commands of the user it runs as, proved by the file system.  Other people on the machine, and the
network, get nothing from it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool.processes import MARK
from condor_pydagman.pool.release_tree import Layout

COMMANDS = "bin"  # of the pool's own
SUBDIRECTORIES = ("config.d", COMMANDS)
# Those that the daemons and jobs write into, and no other user, not even root.
THE_DAEMONS = ("log", "spool", "execute", "lock", "private", "home")

_MISREAD = re.compile(r"""[\s"'$\\:,;\udc80-\udcff]""")

# The release's own `htcondor` needs its bindings in the system's Python; ours are a wheel's.
_HTCONDOR = """\
#!/bin/sh
exec {python} -c 'import sys
sys.path = [place for place in sys.path if place]
sys.argv[0] = "htcondor"
from htcondor_cli.cli import main
sys.exit(main())' "$@"
"""

TEMPLATE = """\
# Written by condor_pydagman at each start of the pool; your own settings go into
# {directory}/config.d
use role: Personal

RELEASE_DIR = {layout.release}
BIN = {layout.bin}
SBIN = {layout.sbin}
LIB = {layout.lib}
LIBEXEC = {layout.libexec}
SHARE = {layout.share}

LOCAL_DIR = {directory}
LOG = {directory}/log
SPOOL = {directory}/spool
EXECUTE = {directory}/execute
LOCK = {directory}/lock
RUN = {directory}/lock
LOCAL_CONFIG_FILE =
LOCAL_CONFIG_DIR = {directory}/config.d
USER_CONFIG_FILE =

COLLECTOR_HOST = 127.0.0.1:0
COLLECTOR_ADDRESS_FILE = $(LOG)/.collector_address
NETWORK_INTERFACE = 127.0.0.1
ENABLE_IPV6 = False
USE_SHARED_PORT = True
# Paths of sockets may not be long.
DAEMON_SOCKET_DIR = {sockets}

# Who may do what: the user of the pool everything, nobody else anything.
UID_DOMAIN = pydagman.pool
FILESYSTEM_DOMAIN = pydagman.pool
TRUST_UID_DOMAIN = True
SEC_DEFAULT_AUTHENTICATION = REQUIRED
SEC_DEFAULT_AUTHENTICATION_METHODS = FS
SEC_PASSWORD_DIRECTORY = {directory}/private
SEC_TOKEN_DIRECTORY = {directory}/private
SEC_TOKEN_SYSTEM_DIRECTORY = {directory}/private
SEC_SYSTEM_KNOWN_HOSTS = {directory}/private/known_hosts
POOL_USERS = {user}@$(UID_DOMAIN), condor@$(UID_DOMAIN)
ALLOW_READ = $(POOL_USERS)
ALLOW_WRITE = $(POOL_USERS)
ALLOW_DAEMON = $(POOL_USERS)
ALLOW_ADMINISTRATOR = $(POOL_USERS)
ALLOW_CONFIG =
ALLOW_NEGOTIATOR = $(POOL_USERS)

# Small jobs in plenty, started soon.  More slots than CPUs do no harm: the jobs mostly wait.
NUM_CPUS = {slots}
MEMORY = {memory}
NEGOTIATOR_INTERVAL = 2
NEGOTIATOR_CYCLE_DELAY = 1
NEGOTIATOR_MIN_INTERVAL = 1
SCHEDD_INTERVAL = 2
SCHEDD_MIN_INTERVAL = 1
UPDATE_INTERVAL = 10
SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 1
RUNBENCHMARKS = 0
# A short queue is listed sooner than a process is forked to list it.
COLLECTOR_QUERY_WORKERS = 0
SCHEDD_QUERY_WORKERS = 0
DEFAULT_USERLOG_FORMAT_OPTIONS = SUB_SECOND

# What ties every process to this pool, so that `stop` finds it.
STARTER_JOB_ENVIRONMENT = "{mark}={directory}"

# What serves jobs of the grid universe keeps its logs here, too, not in /tmp.
C_GAHP_LOG = $(LOG)/CGAHPLog
C_GAHP_LOCK = $(LOCK)/CGAHPLock
C_GAHP_WORKER_THREAD_LOG = $(LOG)/CGAHPWorkerLog
C_GAHP_WORKER_THREAD_LOCK = $(LOCK)/CGAHPWorkerLock

DISCARD_SESSION_KEYRING_ON_STARTUP = False
SINGULARITY = /bin/false
MAIL = /bin/true
SENDMAIL = /bin/true
"""


def render(layout: Layout, directory: Path, sockets: Path, user: str, slots: int) -> str:
    """Text of the pool's configuration file.

    Args:
        layout: the release to run.
        directory: the pool's own directory, absolute.
        sockets: directory for the daemons' sockets; its path must be short.
        user: account name the pool runs as.
        slots: how many one-CPU jobs may run at a time.
    """
    return TEMPLATE.format(
        layout=layout,
        directory=directory,
        sockets=sockets,
        user=user,
        slots=slots,
        memory=slots * 1024,
        mark=MARK,
    )


def htcondor_command(python: str) -> str:
    """Text of a command `htcondor` that works whatever system the release was made for.

    Args:
        python: the interpreter that has HTCondor's bindings, `htcondor_cli` among them.
    """
    return _HTCONDOR.format(python=shlex.quote(python))


def unusable(directory: Path) -> str:
    """The first character of a path that HTCondor's configuration would misread; '' if none.

    Nor can a byte that is no UTF-8 be written into it.
    """
    return next(filter(_MISREAD.match, str(directory)), "")


def refuse_unusable(directory: Path, remedy: str) -> None:
    """Refuse a directory that can't be named in HTCondor's configuration.

    Args:
        directory: the pool's, or an HTCondor's.
        remedy: what to do; ends the message.

    Raises:
        PoolError: its path has such a character.
    """
    if wrong := unusable(directory):
        raise PoolError(
            f"{directory}: HTCondor can't work in a path with {wrong!r} in it; {remedy}",
            transient=False,
        )
