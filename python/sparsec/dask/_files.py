"""Dask arrays of tensors in files.

::

    without `shape`             with `shape`
    part-0  rows 0 to 999       part-0 ──┐      ┌── rows 0 to 999
    part-1  rows 1000 to 1700   part-1 ──┼─cut──┼── rows 1000 to 1999
    part-2  rows 1701 to 2500   part-2 ──┘      └── rows 2000 to 2500
    a chunk a file              entries of the whole in any file; a chunk adds its own
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from glob import glob
from typing import Any, Sequence

import dask
import dask.array as da
import numpy as np

from .. import _files, _shards
from .._asarray import checked_shape, from_coo
from .._errors import failure
from .._tensor import Tensor
from ._arrays import meta_of, type_of
from ._headers import Header, header_of, is_parquet, read_parquet
from ._states import State, check_unchanged, state_of
from ._tasks import task

#: The ends of files that a folder's parts may have.
_ENDINGS = re.compile(
    r"(\.mtx|\.tns|\.rb|\.npy|\.npz|\.h5|\.hdf5|\.parquet|\.pq)(\.gz|\.zst)?$", re.IGNORECASE
)

def read(
    source: Any,
    by: int | str = 0,
    *,
    chunks: Any = None,
    shape: Sequence[int] | None = None,
    format: str | None = None,
    dtype: Any = None,
    columns: Sequence[str] | None = None,
) -> Any:
    """A Dask array of the files of a folder, which tasks read.

    Shapes and types come from headers (``.mtx``, ``.npy``, ``.npz``, ``.h5`` of one tensor in a
    format without levels of its own, ``.tns`` with extents, ``.parquet``); a file of another
    type is read whole for them, here. Parts are in natural order of their names: ``part-2``
    before ``part-10``. Workers read the same paths as this process.

    Parameters
    ----------
    source : path-like, or sequence of these
        A folder, a pattern such as ``"parts/*.mtx"``, or files. In a folder, names that begin
        with ``.`` or ``_`` are left out.
    by : int or str
        The mode along which parts lie side by side, by number or letter.
    chunks : optional
        Chunks of the array, as Dask takes them. By default each file is a chunk; with `shape`,
        there are as many ranges of `by` as files.
    shape : sequence of int, optional
        The extents of the whole, if files hold entries of the whole, by its coordinates, in any
        file. Entries at one place are added, in the order of files. Needed for ``.parquet``
        without ``sparsec.shape``, a JSON list, in the metadata of its schema.
    format : str, optional
        How chunks are stored; by default as `sparsec.read` stores the first file.
    dtype : dtype, optional
        The type of the values; by default that of the files, which have to agree.
    columns : sequence of str, optional
        Of ``.parquet``: the columns of the coordinates, and that of the values. By default all,
        in order. Without a column of values, all are one.

    Returns
    -------
    dask.array.Array
        Its chunks are tensors.

    Raises
    ------
    FileError
        If there is no file, or one cannot be opened (``E0420``).
    InputError
        For files of different types, and for parts whose orders, types, formats or other extents
        differ, by name (``E1104``). When it is computed, for a file that changed since this call
        (``E1105``): it has another size, time of writing or sample of its bytes, or on the machine
        of this process another inode or time of change. And for what is wrong in it.

    Examples
    --------
    >>> import os, sparsec, sparsec.dask, tempfile
    >>> A = sparsec.from_coo([[0, 1], [1, 0]], [2.0, 3.0], shape=(2, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for n in range(11):
    ...         sparsec.write(os.path.join(folder, f"part-{n}.mtx"), A * (n + 1))
    ...     x = sparsec.dask.read(os.path.join(folder, "*.mtx"))
    ...     print(x.shape, x.numblocks, x[20:, 0].compute().to_numpy())
    (22, 2) (11, 1) [ 0. 33.]
    """
    paths = _paths(source)
    states = [state_of(path) for path in paths]
    whole = None if shape is None else tuple(checked_shape(shape))
    order = None if whole is None else len(whole)
    with ThreadPoolExecutor(8) as threads:
        headers = list(threads.map(partial(header_of, columns=columns, order=order), paths))
    if whole is not None:
        headers = [_of_whole(path, it, whole) for path, it in zip(paths, headers)]
    first = _checked(paths, headers, whole is not None, by, format, dtype)
    chosen, element = format or first.format, type_of(first.dtype if dtype is None else dtype)
    assert first.shape is not None
    meta = meta_of(len(first.shape), element, chosen, first.fill)
    mode = _shards.mode_of(meta, by)
    name = f"sparsec-read-{dask.base.tokenize(paths, states, whole, mode, chosen, element, columns)}"
    load = task(_loaded)
    parts = [
        load(
            path,
            state,
            it.shape,
            # Parts of a whole are cut and added as lists of entries.
            chosen if whole is None else "coo",
            element if dtype is not None else None,
            element,
            columns,
            dask_key_name=f"{name}-part-{number}",
        )
        for number, (path, state, it) in enumerate(zip(paths, states, headers))
    ]
    if whole is None:
        arrays = [
            da.from_delayed(part, it.shape, meta=meta) for part, it in zip(parts, headers)
        ]
        made = da.concatenate(arrays, axis=mode)
        return made if chunks is None else made.rechunk(chunked(chunks, made.shape, meta))
    return _gathered(name, parts, headers, whole, mode, chunks, meta)


def _gathered(
    name: str,
    parts: Sequence[Any],
    headers: Sequence[Header],
    shape: tuple[int, ...],
    mode: int,
    chunks: Any,
    meta: Tensor,
) -> Any:
    """The array of parts whose entries are anywhere."""
    if chunks is None:
        extent = shape[mode]
        n = max(1, min(len(parts), extent))
        bounds = [extent * at // n for at in range(n + 1)]
        chunks = list(shape)
        chunks[mode] = tuple(int(size) for size in np.diff(bounds))
    given = tuple(chunks) if isinstance(chunks, list) else chunks
    sizes = chunked(given, shape, meta)
    # Arrays of one folder in other chunks are made of other tasks.
    name = f"{name}-{dask.base.tokenize(sizes)}"
    starts = [np.concatenate([[0], np.cumsum(it)]).astype(np.int64).tolist() for it in sizes]
    cut, add = task(_cut), task(_added)
    blocks: Any = np.empty([len(it) for it in sizes], dtype=object)
    for place in np.ndindex(*blocks.shape):
        ranges = [(int(at[n]), int(at[n + 1])) for at, n in zip(starts, place)]
        pieces = [
            cut(part, ranges, dask_key_name=f"{name}-cut-{number}-{'-'.join(map(str, place))}")
            for number, (part, it) in enumerate(zip(parts, headers))
            if _may_meet(it, ranges)
        ]
        extents = tuple(end - start for start, end in ranges)
        key = f"{name}-chunk-{'-'.join(map(str, place))}"
        made = add(extents, meta.format, meta.dtype, *pieces, dask_key_name=key)
        blocks[place] = da.from_delayed(made, extents, meta=meta)
    return da.block(blocks.tolist())


def chunked(chunks: Any, shape: Sequence[int], meta: Tensor) -> Any:
    """The extents of chunks, as Dask takes them.

    Raises
    ------
    InputError
        For what says no chunks of this shape (``E0004``).
    """
    try:
        return da.core.normalize_chunks(chunks, tuple(shape), dtype=meta.dtype)
    except (ValueError, TypeError) as error:
        message = f"`chunks` does not take {chunks!r} for the shape {tuple(shape)}: {error}"
        raise failure("E0004", message, "give an extent for each mode: `chunks=(1000, 50)`") from error


def _may_meet(header: Header, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether a part may have entries there, by the ranges that its file states."""
    return all(
        known is None or (known[0] < end and start <= known[1])
        for known, (start, end) in zip(header.ranges, ranges)
    )


def _paths(source: Any) -> list[str]:
    """The files that are meant, in natural order."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise failure("E0420", "an empty list of files", "give a file at least")
        return [path for it in source for path in _paths(it)]
    if not isinstance(source, (str, os.PathLike)):
        message = f"{source!r} is neither a path nor a list of paths"
        raise failure("E0420", message, 'give a folder, or a pattern such as "parts/*.mtx"')
    given = os.path.abspath(os.fspath(source))
    if os.path.isdir(given):
        inside = (os.path.join(given, it) for it in os.listdir(given) if it[0] not in "._")
        paths = [it for it in inside if os.path.isfile(it) and _ENDINGS.search(it)]
    elif os.path.exists(given):
        return [given]
    else:
        paths = [it for it in glob(given, recursive=True) if os.path.isfile(it)]
    if not paths:
        message = f"there are no files of tensors at `{os.fspath(source)}`"
        raise failure("E0420", message, 'give a folder, or a pattern such as "parts/*.mtx"')
    endings = {found[0].lower() for it in paths if (found := _ENDINGS.search(it))}
    if len(endings) > 1:
        message = f"`{os.fspath(source)}` has files of several types: {', '.join(sorted(endings))}"
        raise failure("E1104", message, f'choose one: "*{min(endings)}"')
    return sorted(paths, key=_natural)


def _natural(path: str) -> list[Any]:
    """Numbers in names compare as numbers."""
    words = re.split(r"(\d+)", path)
    return [(int(it), it) if it.isdigit() else it for it in words]


def _of_whole(path: str, header: Header, shape: tuple[int, ...]) -> Header:
    """The header of a part that holds entries of a tensor of this shape."""
    own = header.shape
    if own is not None and (
        len(own) != len(shape) or any(it > extent for it, extent in zip(own, shape))
    ):
        message = f"`{path}` has shape {own}, and the whole has shape {shape}"
        raise failure("E1104", message, "give the shape that all files fit into")
    ranges = header.ranges if len(header.ranges) == len(shape) else ()
    for mode, (known, extent) in enumerate(zip(ranges, shape)):
        if known is not None and (known[0] < 0 or known[1] >= extent):
            message = (
                f"`{path}` has coordinates from {known[0]} to {known[1]} in mode {mode}, "
                f"whose extent is {extent}"
            )
            raise failure("E0401", message, "give the shape that all files fit into")
    shape = shape if is_parquet(path) else own or shape
    return replace(header, shape=shape, ranges=ranges)


def _checked(
    paths: Sequence[str],
    headers: Sequence[Header],
    is_whole: bool,
    by: Any,
    format: str | None,
    dtype: Any,
) -> Header:
    """The first header, if all others fit to it."""
    first = headers[0]
    for path, it in zip(paths, headers):
        if it.shape is None:
            message = f"`{path}` does not say how far its modes run"
            raise failure("E1104", message, "give `shape`, that of the whole")
    assert first.shape is not None
    mode = None
    if not is_whole:
        mode = _shards.mode_of(meta_of(len(first.shape), bool, None), by)
    for path, it in zip(paths[1:], headers[1:]):
        what, help = "", ""
        shape = it.shape or ()
        if len(shape) != len(first.shape):
            what = f"has shape {shape}, and `{paths[0]}` has shape {first.shape}"
            help = "give parts of one order"
        elif mode is not None and any(
            a != b for at, (a, b) in enumerate(zip(shape, first.shape)) if at != mode
        ):
            what = f"has shape {shape}, and `{paths[0]}` has shape {first.shape}"
            help = f"give parts that differ along mode {mode} only, or another `by`"
        elif dtype is None and it.dtype != first.dtype:
            what = f"stores {it.dtype}, and `{paths[0]}` stores {first.dtype}"
            help = f'read all as one type: `dtype="{np.result_type(it.dtype, first.dtype)}"`'
        elif _fill_of(it) != _fill_of(first):
            what = f"has the fill {_fill_of(it)}, and `{paths[0]}` the fill {_fill_of(first)}"
            help = "give parts of one fill"
        elif format is None and it.format != first.format:
            what = f"is stored as {it.format}, and `{paths[0]}` as {first.format}"
            help = f'read all in one format: `format="{_default_of(first)}"`'
        if what:
            raise failure("E1104", f"`{path}` {what}", help)
    return first


def _fill_of(header: Header) -> str:
    """The fill as text: NaN is no number that equals itself."""
    given = complex(0 if header.fill is None else header.fill)
    return str(given if given.imag else given.real)


def _default_of(header: Header) -> str:
    return "csr" if len(header.shape or ()) == 2 else "csf"


def _loaded(
    path: str,
    state: State,
    shape: Sequence[int],
    format: str,
    asked: Any,
    dtype: Any,
    columns: Sequence[str] | None,
) -> Tensor:
    """The tensor of a file that is as it was, and as its header promised."""
    check_unchanged(path, state)
    if is_parquet(path):
        made = read_parquet(path, shape, columns, format, asked)
    else:
        made = _files.read(path, format, asked)
    check_unchanged(path, state)
    if made.shape != tuple(shape) or made.dtype != dtype:
        message = (
            f"`{path}` holds {made.dtype} of shape {made.shape}, and its header promised "
            f"{dtype} of shape {tuple(shape)}"
        )
        raise failure("E1104", message, "write the file again")
    return made


def _cut(part: Tensor, ranges: Sequence[tuple[int, int]]) -> Tensor:
    """The entries of a part in a chunk of the whole, with the coordinates of the chunk."""
    if part.fill_value != 0:
        message = f"a part whose entries that are not stored are {part.fill_value}"
        raise failure("E1104", message, "parts of a whole are added: give parts whose fill is zero")
    coords, values = part.to_coo()
    is_inside = np.ones(len(values), dtype=bool)
    for list_, (start, end) in zip(coords, ranges):
        is_inside &= (start <= list_) & (list_ < end)
    lists = [list_[is_inside] - start for list_, (start, _) in zip(coords, ranges)]
    shape = [end - start for start, end in ranges]
    return from_coo(lists, values[is_inside], shape, format="coo", fill_value=part.fill_value)


def _added(shape: Sequence[int], format: str, dtype: Any, *parts: Tensor) -> Tensor:
    """The tensor of all entries of the parts. Those at one place are added in order."""
    lists = [it.to_coo() for it in parts]
    coords = [
        np.concatenate([np.zeros(0, np.int64), *(it[mode] for it, _ in lists)])
        for mode in range(len(shape))
    ]
    values = np.concatenate([np.zeros(0, dtype), *(it for _, it in lists)])
    return from_coo(coords, values, shape, format=format, dtype=dtype)
