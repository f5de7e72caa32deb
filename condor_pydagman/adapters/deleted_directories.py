"""Deletes directories into which others may put something meanwhile."""

from __future__ import annotations

import errno
import os

from condor_pydagman.adapters.files import closed_at_end, refuse_foreign

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW  # waits for no FIFO
MAX_DEPTH = 300  # of directories that are deleted with one; each takes a descriptor


def delete_directory(path: str) -> str:
    """Delete a directory and what is in it, as far as that can be done.

    Nothing is opened that is no directory, and no link is followed, also if another process puts
    something else in the place of one meanwhile.

    Returns:
        why it is left: another user may have made it, or something else of that name; '' if it is
        gone.
    """
    try:
        with closed_at_end(os.open(path, _DIRECTORY)) as fd:
            refuse_foreign(fd, path)
            _delete_contents(fd, 0)
        os.rmdir(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _delete_contents(directory: int, depth: int) -> None:
    """What can't be deleted keeps nothing else from being so; raises the first such OSError."""
    if depth > MAX_DEPTH:
        raise OSError(errno.ENAMETOOLONG, "its directories are too deep")
    with os.scandir(directory) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    problem: OSError | None = None
    for name, is_directory in found:
        try:
            if is_directory:
                _delete_below(directory, name, depth)
            else:
                os.unlink(name, dir_fd=directory)
        except FileNotFoundError:
            pass
        except OSError as error:
            problem = problem or error
    if problem is not None:
        raise problem


def _delete_below(directory: int, name: str, depth: int) -> None:
    with closed_at_end(os.open(name, _DIRECTORY, dir_fd=directory)) as fd:
        _delete_contents(fd, depth + 1)
    os.rmdir(name, dir_fd=directory)
