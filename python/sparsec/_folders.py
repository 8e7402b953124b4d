"""Results that go to files as they are made, one file a part.

::

    folder.HEX.part/  part-00000.npz  part-00001.npz  ...      while shards are computed
    folder/           the same                                 when all are there

A folder appears whole or not at all. Parts that lie side by side along one mode are files of their
own tensors. Those of a result that is cut along two modes have the coordinates of the whole.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator, Sequence
from uuid import uuid4

from . import _files, _shards
from ._errors import failure
from ._tensor import Tensor

#: The type of files of parts: it has every format, type and fill.
_END = ".npz"


@dataclass(frozen=True)
class Layout:
    """How the parts of a result lie in its files."""

    #: The mode along which parts lie side by side; None if they have the coordinates of the whole.
    mode: int | None
    #: The shape of the whole.
    shape: tuple[int, ...]

    @staticmethod
    def of(offsets: Sequence[Sequence[int]], shape: Sequence[int]) -> Layout:
        """The layout of parts that begin at these coordinates."""
        order = len(shape)
        cut = [at for at in range(order) if len({offset[at] for offset in offsets}) > 1]
        return Layout(None if len(cut) > 1 else (cut or [0])[0], tuple(map(int, shape)))

    def file(self, part: Tensor, offset: Sequence[int]) -> Tensor:
        """A part as its file has it."""
        if self.mode is not None:
            return part
        if part.fill_value != 0:
            message = f"a result of fill {part.fill_value} that is cut along two modes"
            raise failure("E1104", message, "cut it along one: `shards=\"shard(i, 0, ...)\"`")
        return _shards.join([part], [offset], self.shape, "coo")


def path_of(folder: str, number: int) -> str:
    """The file of a part."""
    return os.path.join(folder, f"part-{number:05}{_END}")


def write_part(folder: str, number: int, layout: Layout, offset: Sequence[int], part: Tensor) -> str:
    """Writes a part, and gives the name of its file. Written again, it is the same file."""
    path = path_of(folder, number)
    _files.write(path, layout.file(part, offset))
    return os.path.basename(path)


@contextmanager
def appearing(folder: Any) -> Iterator[str]:
    """A folder to write to, which gets its name when all went well, and is removed if not.

    Raises
    ------
    FileError
        If there is such a folder or file, or it cannot be made (``E0427``).
    """
    target = os.path.abspath(os.fspath(folder))
    if os.path.lexists(target):
        message = f"cannot write `{target}`: it is there already"
        raise failure("E0427", message, "give another name, or remove it")
    made = f"{target}.{uuid4().hex}.part"
    try:
        os.mkdir(made)
    except OSError as error:
        raise _refused(target, error) from error
    try:
        yield made
        try:
            os.rename(made, target)
        except OSError as error:
            raise _refused(target, error) from error
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _refused(target: str, error: OSError) -> Exception:
    message = f"cannot write `{target}`: {error.strerror}"
    return failure("E0427", message, "check the folder, and the rights to write there")
