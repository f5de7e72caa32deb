"""Takes from this process what a text that it reads could make it do: open a file, start a program,
connect, signal another process, go on for ever.

The kernel refuses every system call that is not listed here (seccomp(2), a filter of type
SECCOMP_MODE_FILTER), for as long as the process lives.  A limit of processes alone would not do: it
does not concern root, and a library that is loaded, or a program that takes the place of this one,
needs no process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
from collections.abc import Iterator

from condor_pydagman.timers import READING_CPU_S

MAX_MEMORY_BYTES = 512 << 20
MAX_FILE_BYTES = 1 << 20
_NOBODY = 65534  # user and group
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 4, 38, 22
_PR_SET_PDEATHSIG = 1
_MODE_FILTER = 2

# What a process may still do: memory, open descriptors, clocks.  Name, number on x86_64, number on
# aarch64 (asm/unistd_64.h, asm-generic/unistd.h of Linux).
_CALLS = """
read:0:63 write:1:64 close:3:57 fstat:5:80 lseek:8:62 mmap:9:222 mprotect:10:226 munmap:11:215
brk:12:214 rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 pread64:17:67
pwrite64:18:68 writev:20:66 mremap:25:216 madvise:28:233 dup:32:23 dup2:33:- dup3:292:24
nanosleep:35:101 getpid:39:172 exit:60:93 exit_group:231:94 uname:63:160 getcwd:79:17
getuid:102:174 getgid:104:176 geteuid:107:175 getegid:108:177 gettid:186:178 futex:202:98
clock_gettime:228:113 clock_nanosleep:230:115 gettimeofday:96:169 time:201:- getrandom:318:278
newfstatat:262:79 ftruncate:77:46 sched_yield:24:124 sigaltstack:131:132 rseq:334:293
membarrier:324:283
"""
_OPENING = "open:2:- openat:257:56"  # which finds no file, whatever its name
# Processors: their number in the kernel's audit, the column of their calls above, and the number
# from which on calls are of another form (x32), which is refused.
_MACHINES = {"x86_64": (0xC000003E, 1, 0x40000000), "aarch64": (0xC00000B7, 2, 0xFFFFFFFF)}
_LAST_KNOWN = 450  # higher numbers: newer calls, without which the C library does as well

_LOAD, _EQUAL, _AT_LEAST, _JUMP, _RETURN = 0x20, 0x15, 0x35, 0x05, 0x06
_NUMBER, _AUDIT = 0, 4  # where they stand in struct seccomp_data
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000


def _instruction(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    """A struct sock_filter; the last two are how many instructions are jumped over."""
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _each_goes_to(result: int, numbers: list[int]) -> Iterator[bytes]:
    for place, number in enumerate(numbers):
        yield _instruction(_EQUAL, number, when_true=len(numbers) - place)
    yield _instruction(_JUMP, 1)
    yield _instruction(_RETURN, result)


def _program(machine: str) -> bytes:
    audit, column, other_form = _MACHINES[machine]

    def numbers(calls: str) -> list[int]:
        found = [call.split(":")[column] for call in calls.split()]
        return [int(number) for number in found if number != "-"]

    allowed, opening = numbers(_CALLS), numbers(_OPENING)
    return b"".join((
        _instruction(_LOAD, _AUDIT),
        _instruction(_EQUAL, audit, when_true=1),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER),
        *_each_goes_to(_ALLOW, allowed),
        *_each_goes_to(_ERROR | errno.ENOENT, opening),
        _instruction(_AT_LEAST, other_form, when_true=1),
        _instruction(_AT_LEAST, _LAST_KNOWN + 1, when_true=1),
        _instruction(_RETURN, _ERROR | errno.EPERM),
        _instruction(_RETURN, _ERROR | errno.ENOSYS),
    ))  # fmt: skip


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def confine(user: int, group: int) -> None:
    """Give all rights up but to compute and to use the descriptors that are open.

    Args:
        user, group: whom a process of root becomes: nobody instead of root, or of -1.

    Raises:
        OSError: the kernel does not allow it, or the machine is of another kind; what has been
            given up is gone.
    """
    machine = platform.machine()
    if machine not in _MACHINES:
        raise OSError(errno.ENOTSUP, f"no list of system calls for {machine}")
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, READING_CPU_S),
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_NPROC, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, most))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(group if user > 0 and group > 0 else _NOBODY)
        os.setuid(user if user > 0 else _NOBODY)
    _call(_PR_SET_PDEATHSIG, signal.SIGKILL)  # nobody else ends one that sleeps
    _call(_PR_SET_DUMPABLE, 0)
    _call(_PR_SET_NO_NEW_PRIVS, 1)
    program = _program(machine)
    _call(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(_SockFprog(len(program) // 8, program)))


def _call(option: int, value: int, more: object = 0) -> None:
    """prctl(2)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), more, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
