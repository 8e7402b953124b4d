"""States of files: whether a file is still the one that an array was made of.

==============================  ===========================  ====================================
compared                        everywhere                   on the machine that made the array
==============================  ===========================  ====================================
size, time of writing           yes                          yes
bytes at sixteen places         yes                          yes
inode, time of change           no: copies have their own    yes
==============================  ===========================  ====================================

Programs can set the time of writing back, and file systems round it, so files of one size and time
may differ. No program can set the time of change (``ctime``).
"""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass

from .._errors import failure

#: How many samples of a file are compared, and the bytes of one: all of a file of 64 KiB.
_SAMPLES = 16
_SAMPLE = 4096


@dataclass(frozen=True)
class State:
    """The state of a file when it was looked at."""

    size: int
    #: When it was written, in nanoseconds.
    written: int
    #: Of samples of its bytes.
    digest: str
    #: The machine, the device, the inode, and when any of its data changed.
    place: tuple[str, int, int, int]


def state_of(path: str) -> State:
    """The state of a file.

    Raises
    ------
    FileError
        If it cannot be opened (``E0420``).
    """
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            digest = hashlib.blake2b(digest_size=16)
            for number in range(_SAMPLES):
                # The first and the last sample are the two ends.
                file.seek(max(found.st_size - _SAMPLE, 0) * number // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE))
    except OSError as error:
        message = f"cannot read `{path}`: {error.strerror}"
        raise failure("E0420", message, "check the path, and that workers have it too") from error
    place = (socket.gethostname(), found.st_dev, found.st_ino, found.st_ctime_ns)
    return State(found.st_size, found.st_mtime_ns, digest.hexdigest(), place)


def check_unchanged(path: str, state: State) -> None:
    """Refuses a file that is in another state.

    Raises
    ------
    InputError
        With what differs (``E1105``).
    """
    found = state_of(path)
    what = ""
    if found.size != state.size:
        what = f"it has {found.size} bytes, and had {state.size}"
    elif found.written != state.written:
        what = "it was written again"
    elif found.digest != state.digest:
        what = "it has other bytes, of one size and time"
    elif found.place[0] == state.place[0] and found.place != state.place:
        what = "it was written again, and its time set back"
    if what:
        message = f"`{path}` changed since the array was made: {what}"
        raise failure("E1105", message, "call `sparsec.dask.read` again when files are complete")
