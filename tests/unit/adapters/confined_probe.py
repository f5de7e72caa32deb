"""What a confined process can do: tried in copies of this one, as JSON.

    python -m tests.unit.adapters.confined_probe NAME...

The program of `test_confinement.py`, which runs it as root, and as a user.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import platform
import signal
import sys
import threading
from typing import Any

from condor_pydagman.adapters import confined_reader, confinement
from condor_pydagman.errors import PoolError

# Numbers on x86_64 and on aarch64 (-1: there is no such call), and arguments.
_NOWHERE = b"/nonexistent"
_CALLS: dict[str, tuple[int, int, tuple[Any, ...]]] = {
    "open": (2, -1, (b"/etc/passwd", 0)),
    "openat": (257, 56, (-100, b"/etc/passwd", 0)),
    "openat2": (437, 437, (-100, b"/etc/passwd", bytes(24), 24)),
    "creat": (85, -1, (b"made", 0o644)),
    "execve": (59, 221, (b"/bin/true", 0, 0)),
    "execveat": (322, 281, (-100, b"/bin/true", 0, 0, 0)),
    "fork": (57, -1, ()),
    "vfork": (58, -1, ()),
    "clone": (56, 220, (17, 0, 0, 0, 0)),
    "clone3": (435, 435, (bytes(88), 88)),
    "socket": (41, 198, (1, 1, 0)),
    "connect": (42, 203, (0, b"", 0)),
    "ioctl": (16, 29, (0, 0x5401, 0)),
    "kill": (62, 129, (os.getpid(), 0)),
    "tgkill": (234, 131, (os.getpid(), os.getpid(), 0)),
    "pidfd_open": (434, 434, (os.getpid(), 0)),
    "ptrace": (101, 117, (16, os.getpid(), 0, 0)),
    "process_vm_readv": (310, 270, (os.getpid(), 0, 0, 0, 0, 0)),
    "rename": (82, -1, (_NOWHERE, _NOWHERE)),
    "renameat2": (316, 276, (-100, _NOWHERE, -100, _NOWHERE, 0)),
    "unlink": (87, -1, (_NOWHERE,)),
    "unlinkat": (263, 35, (-100, _NOWHERE, 0)),
    "mkdir": (83, -1, (b"made", 0o755)),
    "mkdirat": (258, 34, (-100, b"made", 0o755)),
    "linkat": (265, 37, (-100, b"/etc/passwd", -100, b"made", 0)),
    "symlinkat": (266, 36, (b"/etc/passwd", -100, b"made")),
    "chmod": (90, -1, (b".", 0o777)),
    "fchmodat": (268, 53, (-100, b".", 0o777)),
    "truncate": (76, 45, (_NOWHERE, 0)),
    "chdir": (80, 49, (b"/",)),
    "chroot": (161, 51, (b"/",)),
    "mount": (165, 40, (0, _NOWHERE, 0, 0, 0)),
    "setuid": (105, 146, (0,)),
    "setrlimit": (160, 164, (7, bytes(16))),
    "prctl": (157, 167, (4, 1, 0, 0, 0)),
    "memfd_create": (319, 279, (b"more", 0)),
    "shmget": (29, 194, (0, 4096, 0o1600)),
    "io_uring_setup": (425, 425, (1, bytes(120))),
    "inotify_init1": (294, 26, (0,)),
    "bpf": (321, 280, (0, 0, 0)),
    "userfaultfd": (323, 282, (0,)),
    "newer": (1000, 1000, ()),
    "other form": (0x40000000 + 39, 0x40000000 + 172, ()),
}


def calls() -> dict[str, str]:
    """The error of each system call; "" if it is not refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    column = 0 if platform.machine() == "x86_64" else 1
    found = {}
    for name, call in _CALLS.items():
        if call[column] < 0:
            continue
        ctypes.set_errno(0)
        failed = libc.syscall(ctypes.c_long(call[column]), *call[2]) == -1
        if not failed and "fork" in name:  # nobody waits for the child
            os._exit(0)
        found[name] = errno.errorcode.get(ctypes.get_errno(), "") if failed else ""
    return found


def library() -> str:
    """What becomes of a library, as CLASSAD_USER_LIBS and plugins load them."""
    try:
        ctypes.CDLL("./evil.so")
    except OSError as error:
        return str(error)
    return "loaded"


def program() -> str:
    """What becomes of a shell, as `include command` starts one."""
    try:
        return str(os.system("touch made"))
    except OSError as error:
        return str(error.strerror)


def other_processor() -> str:
    """A call in the form of another processor, i386, has other numbers: it ends the process."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x0b\x00\x00\x00\x31\xdb\xcd\x80\xc3")  # execve(NULL)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return str(ctypes.CFUNCTYPE(ctypes.c_int)(address)())


def secrets() -> list[str]:
    """The environment, as the process has it."""
    return sorted(os.environ)


def descriptors() -> list[int]:
    """Those that are open."""
    found = []
    for number in range(1024):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    return found


def identity() -> list[Any]:
    """User, group; further groups can't be asked for any more."""
    return [os.getuid(), os.geteuid(), os.getgid(), os.getegid()]


def endless() -> None:
    """CPU."""
    while True:
        pass


def without_signals() -> None:
    """CPU, and all signals are refused that can be."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if number < 32:
            signal.signal(number, signal.SIG_IGN)
    endless()


def sleeping() -> None:
    """Time without CPU."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    threading.Event().wait()  # Python 3.9 sleeps by a call that is refused


def memory() -> str:
    """More and more of it; each page is touched."""
    kept = []
    while True:
        kept.append(b"x" * (1 << 24))


def long_answer() -> str:
    """One byte more than is taken."""
    return "x" * confined_reader.MAX_ANSWER_BYTES


def long_file() -> str:
    """More than a file may have."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        os.pwrite(2, b"x", confinement.MAX_FILE_BYTES)
    except OSError as error:
        return str(error.strerror)
    return "written"


def refused() -> None:
    """What a reader says of a text."""
    raise PoolError("a mistake", transient=False)


def answer() -> list[Any]:
    """What comes back."""
    return ["ä", 1, None, {"a": [True]}]


def deaf() -> None:
    """An answer, and nothing is read any more."""
    os.write(3, b"[false, 1]\n")
    sleeping()


def odd_processor() -> None:
    """Nothing is called where no filter can be set."""


_SHORT = {"endless", "without_signals", "sleeping"}


def main(names: list[str]) -> dict[str, Any]:
    """What the copy has answered to each."""
    for name in set(os.environ) - set(confined_reader._KEPT):
        del os.environ[name]
    found = {}
    for name in names:
        name, _, owner = name.partition("@")
        user, group = map(int, owner.split(":")) if owner else (-1, -1)
        confinement.READING_CPU_S = 1 if name in _SHORT else 5
        confined_reader.READING_TIMEOUT_S = 1 if name == "sleeping" else 600
        if name == "odd_processor":
            platform.machine = lambda: "riscv64"
        copy = confined_reader._Copy([f"tests.unit.adapters.confined_probe:{name}", user, group])
        found[f"{name}@{owner}".rstrip("@")] = copy.answer([])
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
