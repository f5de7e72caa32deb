"""A module gfal2 whose servers are directories; what a path is called tells how it fails."""

import errno
import os
import shutil
import signal
import sys
import threading
import time
import zlib

SERVERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "servers")


class GError(Exception):
    """Its error."""

    def __init__(self, message, code):
        super().__init__(message)
        self.message, self.code = message, code


class checksum_mode:
    """Which ends."""

    both = 3


def path_of(url):
    scheme, _, rest = url.partition("://")
    return rest if scheme == "file" else os.path.join(SERVERS, *rest.split("?")[0].split("/"))


class Parameters:
    """Of a copy."""

    checksum = None

    def set_checksum(self, mode, algorithm, digits):
        self.checksum = algorithm, digits


class Stat:
    """Of a file."""

    def __init__(self, size):
        self.st_size = size


class Context:
    """Of all."""

    def __init__(self):
        self.looks = 0  # at a file that is shown late
        self.cancelled = threading.Event()

    def note(self, *words):
        with open(os.path.join(SERVERS, "seen"), "a") as file:
            file.write(" ".join(map(str, words)) + "\n")

    def set_opt_integer(self, group, name, value):
        pass

    def set_opt_boolean(self, group, name, value):
        self.note(name, value)

    def cred_new(self, kind, value):
        return kind, value

    def cred_set(self, beginning, credential):
        self.note("credential", beginning, *credential)

    def get_plugin_names(self):
        return ["xrootd-2.21.3", "http-2.21.3", "srm-2.21.3", "file-2.21.3", "mock-1"]

    def transfer_parameters(self):
        return Parameters()

    def cancel(self):
        self.cancelled.set()

    def stat(self, url):
        self.note("stat", url, signal.getitimer(signal.ITIMER_REAL)[0] > 0)
        if "no-answer" in url:
            os.kill(os.getpid(), signal.SIGALRM)  # as the kernel does some time later
        if "odd-stat" in url:
            raise RuntimeError("no such thing")
        if "no-size" in url:
            return Stat(None)
        self.looks += "late" in url
        if self.looks == 1:
            return Stat(0)
        if "lies" in url:
            return Stat(self.size(url) + 1)
        return Stat(self.size(url))

    def size(self, url):
        try:
            return os.stat(path_of(url)).st_size
        except OSError as error:
            raise GError("Failed to stat file", error.errno) from None

    def checksum(self, url, algorithm):
        with open(path_of(url), "rb") as file:
            return f"{zlib.adler32(file.read()):08x}"

    def unlink(self, url):
        self.note("unlink", url)
        try:
            os.unlink(path_of(url))
        except OSError as error:
            raise GError("can't unlink", error.errno) from None

    def rename(self, url, to):
        self.note("rename", url, to)
        if "norename" in url:
            raise GError("can't rename", errno.ENOSYS)
        if os.path.exists(path_of(to)):
            raise GError("it is there", errno.EEXIST)
        os.rename(path_of(url), path_of(to))

    def attack(self, parameters, source, to):
        if "exits" in to:
            os._exit(0)
        if "odd-copy" in to:
            raise RuntimeError("no such thing")
        if "leaves" in to:
            sys.exit(0)
        if "no-code" in to:
            raise GError(None, None)
        if "huge-code" in to:
            raise GError("a" * 1_000_000 + "\0\udcff", 10**30)
        if "floods" in to:
            os.write(2, b"x" * 300_000 + b"\n")
        if "wild" in to:
            for count in (-5, 10**15):
                parameters.monitor_callback(source, to, 1, 1, count, 1)
        if "callback" in to:
            parameters.monitor_callback()
        if "hangs" in to:
            self.note("waits")
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
            while True:
                time.sleep(600)

    def filecopy(self, parameters, source, to):
        self.note("copy", source, to, parameters.local_transfers, parameters.overwrite)
        path = path_of(to)
        if "refuse" in to:
            raise GError("tpc not supported", errno.ENOTSUP)
        if "secret" in to:
            raise GError("can't " + source + " geheimnis", errno.EIO)
        if "crash" in to:
            os.abort()
        self.attack(parameters, source, to)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path) and not parameters.overwrite:
            raise GError("it is there", errno.EEXIST)
        if parameters.checksum and self.checksum(source, "") != parameters.checksum[1]:
            raise GError("CHECKSUM MISMATCH", errno.EIO)
        shutil.copy(path_of(source), path)
        if "short" in to:
            os.truncate(path, 1)
        if "slow" in to or "broken" in to:
            os.truncate(path, 1)
            parameters.monitor_callback(source, to, 1, 1, 1, 1)
            if "broken" in to:
                raise GError("Connection error: (destination)", errno.ECOMM)
            self.note("waits")
            self.cancelled.wait()
            raise GError("cancelled", errno.ECANCELED)
        return 0


def creat_context():
    return Context()
