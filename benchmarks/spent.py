"""Run a command and tell what it took: python -I -S spent.py TIMEOUT COMMAND...

The last line of standard error is a JSON list: seconds by the clock, CPU seconds, greatest resident
bytes, exit code as of `os.waitstatus_to_exitcode`, and whether it has ended within TIMEOUT seconds.

A program of its own, with as few modules as possible: the kernel counts what a process has before
it becomes another program, and a process begins as a copy of its parent.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time


def main(timeout_s: float, argv: list[str]) -> None:
    """Run it, with the streams of this process."""
    begin = time.perf_counter()
    pid = os.fork()
    if not pid:
        try:
            os.execvp(argv[0], argv)
        finally:
            os._exit(127)
    descriptor = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    ended = bool(poll.poll(timeout_s * 1000))
    if not ended:
        os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    seconds = time.perf_counter() - begin
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    code = os.waitstatus_to_exitcode(status)
    ended_word = "true" if ended else "false"
    sys.stderr.write(f"\n[{seconds}, {cpu}, {memory}, {code}, {ended_word}]\n")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
