"""Real servers on this machine, each with a directory of files: ftp, sftp, S3, WebDAV, XRootD.

A server ends with the process that started it (PR_SET_PDEATHSIG), and answers when the context
begins.
"""

from __future__ import annotations

import contextlib
import ctypes
import getpass
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.servers import fetched
from tests.waiting import LIMIT_S

_PR_SET_PDEATHSIG = 1
_PYTHON = {
    "ftp": """
import sys, logging
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer
logging.disable(logging.CRITICAL)
users = DummyAuthorizer()
users.add_user("me", "geheim", sys.argv[2], perm="elradfmwMT")
class Handler(FTPHandler):
    authorizer, auth_failed_timeout = users, 0
FTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
""",
    "s3": """
import sys, logging
logging.disable(logging.CRITICAL)
from moto.server import main
main(["-H", "127.0.0.1", "-p", sys.argv[1]])
""",
    "dav": """
import sys, logging
logging.disable(logging.CRITICAL)
from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp
app = WsgiDAVApp({
    "provider_mapping": {"/": sys.argv[2]},
    "simple_dc": {"user_mapping": {"*": {"me": {"password": "geheim"}}}},
    "logging": {"enable": False}, "verbose": 0,
})
wsgi.Server(("127.0.0.1", int(sys.argv[1])), app).start()
""",
}


class Server(NamedTuple):
    """A running server.

    Attributes:
        url: of the directory, with a `/` at its end, user and password included.
        environment: what a client needs.
        directory: the files, if they are on the disk.
        process: of the server.
        credential: `cred_name` for it.
    """

    url: str
    environment: dict[str, str]
    directory: Path | None
    process: subprocess.Popen[bytes]
    credential: str = ""


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def ftp(directory: Path) -> Iterator[Server]:
    """An ftp server (pyftpdlib)."""
    with _python("ftp", directory) as (port, process):
        yield Server(f"ftp://me:geheim@127.0.0.1:{port}/", {}, directory / "files", process)


@contextlib.contextmanager
def dav(directory: Path) -> Iterator[Server]:
    """A WebDAV server (wsgidav)."""
    with _python("dav", directory) as (port, process):
        yield Server(f"dav://me:geheim@127.0.0.1:{port}/", {}, directory / "files", process)


@contextlib.contextmanager
def s3(directory: Path) -> Iterator[Server]:
    """An S3 server (moto) with the bucket `bucket`."""
    with _python("s3", directory) as (port, process):
        import urllib.request

        address = f"http://127.0.0.1:{port}"
        made = urllib.request.Request(f"{address}/bucket", method="PUT")
        urllib.request.urlopen(made, timeout=LIMIT_S).close()
        environment = {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "geheim",
            "AWS_ENDPOINT_URL": address,
            "AWS_REGION": "us-east-1",
        }
        yield Server("s3://bucket/", environment, None, process)


@contextlib.contextmanager
def sftp(directory: Path) -> Iterator[Server]:
    """OpenSSH's server, which root does not start as itself: it would need a user of its own."""
    prefix, port, user = fetched.fetched(), free_port(), _user()
    home = directory / "home"
    (home / ".ssh").mkdir(parents=True)
    program = _reachable(prefix / "usr/sbin/sshd", directory)
    environment = fetched.environment(prefix)
    for name in ("host", "id"):
        keygen = [str(prefix / "usr/bin/ssh-keygen"), "-qt", "ed25519", "-N", "", "-f"]
        subprocess.run([*keygen, str(directory / name)], env=environment, check=True)
    shutil.copy(directory / "id.pub", directory / "authorized")
    (directory / "sshd_config").write_text(
        f"HostKey {directory}/host\nAuthorizedKeysFile {directory}/authorized\nStrictModes no\n"
        f"UsePAM no\nPidFile none\nForceCommand internal-sftp\nSubsystem sftp internal-sftp\n"
    )
    kind, key = (directory / "host.pub").read_text().split()[:2]
    (home / ".ssh/known_hosts").write_text(f"[127.0.0.1]:{port} {kind} {key}\n")
    (directory / "files").mkdir()
    for path in (*directory.iterdir(), directory):
        os.chown(path, user.pw_uid, user.pw_gid)
    command = [str(program), "-D", "-f", str(directory / "sshd_config"), "-p", str(port)]
    command += ["-o", "ListenAddress=127.0.0.1"]
    (directory / "passwd").write_text(f"me:x:{user.pw_uid}:{user.pw_gid}::{home}:/bin/sh\n")
    (directory / "group").write_text(f"me:x:{user.pw_gid}:\n")
    (wrapper,) = prefix.glob("usr/lib/*-linux-gnu*/libnss_wrapper.so")
    libraries = {
        **environment,
        "LD_LIBRARY_PATH": str(program.parent),
        "LD_PRELOAD": str(shutil.copy(wrapper, program.parent)),
        "NSS_WRAPPER_PASSWD": str(directory / "passwd"),
        "NSS_WRAPPER_GROUP": str(directory / "group"),
    }
    with _running(command, port, libraries, user.pw_uid) as process:
        url = f"sftp://me@127.0.0.1:{port}{directory}/files/"
        yield Server(url, {"HOME": str(home)}, directory / "files", process, str(directory / "id"))


@contextlib.contextmanager
def xrootd(directory: Path) -> Iterator[Server]:
    """Debian's XRootD server, which does not run as root."""
    prefix, port, user = fetched.fetched(), free_port(), _user()
    for name in ("files", "admin", "run"):
        (directory / name).mkdir()
    (directory / "xrootd.cfg").write_text(
        f"xrd.port {port}\nall.adminpath {directory}/admin\nall.pidpath {directory}/run\n"
        f"oss.localroot {directory}/files\nall.export /\nxrd.network nodnr\n"
    )
    program = _reachable(prefix / "usr/bin/xrootd", directory)
    for source in prefix.glob("usr/lib/*-linux-gnu*/libXrd*"):  # which it loads by name
        shutil.copy(source, program.parent)
    for path in (*directory.iterdir(), directory):
        os.chown(path, user.pw_uid, user.pw_gid)
    command = [str(program), "-c", str(directory / "xrootd.cfg"), "-l", str(directory / "log")]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(program.parent)}
    with _running(command, port, environment, user.pw_uid) as process:
        yield Server(f"root://127.0.0.1:{port}//", {}, directory / "files", process)


SERVERS: dict[str, Callable[[Path], contextlib.AbstractContextManager[Server]]] = {
    "ftp": ftp,
    "sftp": sftp,
    "s3": s3,
    "dav": dav,
    "root": xrootd,
}


@contextlib.contextmanager
def _python(name: str, directory: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    (directory / "files").mkdir()
    command = [sys.executable, "-c", _PYTHON[name], str(port), str(directory / "files")]
    with _running(command, port, dict(os.environ)) as process:
        yield port, process


@contextlib.contextmanager
def _running(
    command: Sequence[str], port: int, environment: dict[str, str], uid: int = os.getuid()
) -> Iterator[subprocess.Popen[bytes]]:
    def begin() -> None:
        if uid != os.getuid():
            os.setgroups([])
            os.setgid(pwd.getpwuid(uid).pw_gid)
            os.setuid(uid)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=begin,
    )
    try:
        _wait_for(port, process)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} has ended: {process.communicate()[1]!r}")
        time.sleep(0.02)
    raise RuntimeError(f"{process.args!r} does not answer")


def _user() -> Any:
    """As whom servers run that root may not run as itself."""
    return pwd.getpwnam("nobody" if os.getuid() == 0 else getpass.getuser())


def _reachable(program: Path, directory: Path) -> Path:
    """A program and its libraries where another user can read them."""
    place = directory / "program"
    place.mkdir()
    environment = fetched.environment(fetched.fetched())
    listed = subprocess.run(
        ["ldd", str(program)], env=environment, capture_output=True, text=True, check=True
    ).stdout
    for line in listed.splitlines():
        path = line.partition("=>")[2].split("(")[0].strip()
        if path.startswith(str(fetched.fetched())):
            shutil.copy(path, place)
    return Path(shutil.copy(program, place))
