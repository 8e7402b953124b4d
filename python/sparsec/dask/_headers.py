"""Shapes and types of files, without their entries.

===============  =====================================  ==========================
files            their shape is in                      read for it
===============  =====================================  ==========================
``.mtx``         the size line                          comments before it
``.tns``         the header or comment of our writer    the same; else the file
``.npy``         the header                             the header
``.npz``         ``shape``, ``sparsec``, ``binsparse``  these members
``.h5``          the descriptor, by `h5py`              an attribute; else the file
``.parquet``     the metadata ``sparsec.shape``         the footer
others           nowhere                                the file
===============  =====================================  ==========================

A header promises. The task that reads the file compares.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from dataclasses import dataclass, replace
from typing import IO, Any, Callable, Sequence

import numpy as np

from .._asarray import _default, checked_shape
from .._errors import failure
from .._exchange import _ALIASES, _ARRAYS
from .._files import read
from .._tensor import Tensor
from ._arrays import meta_of

#: The types of values by the fields of Matrix Market.
_FIELDS = {
    "real": "float64",
    "double": "float64",
    "pattern": "float64",
    "integer": "int64",
    "unsigned-integer": "uint64",
    "complex": "complex128",
}
#: Types by the names of sparsec and Binsparse, where NumPy has another name.
_TYPES = {
    **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    **{f"c{n}": f"complex{n}" for n in (64, 128)},
    **{f"complex[float{n}]": f"complex{2 * n}" for n in (32, 64)},
    "bint8": "bool",
}


@dataclass(frozen=True)
class Header:
    """The shape, type and format of a file."""

    #: None if the file does not say.
    shape: tuple[int, ...] | None
    dtype: Any
    format: str
    #: For each mode the least and the greatest coordinate, where the file has them.
    ranges: tuple[tuple[int, int] | None, ...] = ()
    #: The value of entries that are not stored; zero if None.
    fill: Any = None


def header_of(
    path: str, columns: Sequence[str] | None = None, order: int | None = None
) -> Header:
    """The header of a file. Reads the whole file if its type has none.

    `columns` and `order` are those of ``.parquet`` files, which do not have to say how many of
    their columns are coordinates.

    Raises
    ------
    Error
        As `sparsec.read`.
    """
    name = path.lower()
    if is_parquet(path):
        return _of_parquet(path, columns, order)
    for ending, reader in _READERS.items():
        if name.endswith(ending):
            found = _promised(reader, path)
            if found is not None:
                return found
    made = read(path)
    return Header(made.shape, made.dtype, made.format, fill=made.fill_value)


#: What readers of headers meet in files that are cut off, or no such files at all.
_MALFORMED = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    EOFError,
    OSError,
    OverflowError,
    zipfile.BadZipFile,
)


def _promised(reader: Callable[[str], Header | None], path: str) -> Header | None:
    """The header of a file. None if there is none that makes sense: the reader of the whole file
    says what is wrong, and where."""
    try:
        found = reader(path)
        if found is None or found.shape is None:
            return found
        shape = tuple(checked_shape(found.shape))
        # Types and formats that do not exist are refused here.
        meta = meta_of(len(shape), found.dtype, found.format, found.fill)
        return replace(found, shape=shape, dtype=meta.dtype, format=meta.format)
    except _MALFORMED:
        return None


def is_parquet(path: str) -> bool:
    """Whether the name is that of a Parquet file."""
    return path.lower().endswith((".parquet", ".pq"))


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype(_TYPES.get(name, name))


def _lines(path: str) -> IO[str]:
    opened: Callable[..., Any] = gzip.open if path.lower().endswith(".gz") else open
    return opened(path, "rt", encoding="utf-8", errors="replace")  # type: ignore[no-any-return]


def _declared(comment: str) -> tuple[str, tuple[int, ...] | None] | None:
    """The type and extents that a comment such as ``# sparsec: f64[3, 4]`` declares."""
    mark, _, words = comment.lstrip("%# ").partition(":")
    if mark != "sparsec":
        return None
    name, bracket, extents = words.strip().partition("[")
    if not bracket:
        return name.strip(), None
    return name.strip(), tuple(int(it) for it in extents.rstrip("] \n").split(",") if it.strip())


def _of_mtx(path: str) -> Header | None:
    with _lines(path) as lines:
        _, _, form, field, _ = lines.readline().lower().split()
        dtype = _FIELDS[field]
        for line in lines:
            if line.startswith("%"):
                declared = _declared(line)
                dtype = dtype if declared is None else declared[0]
            elif line.strip():
                rows, columns = map(int, line.split()[:2])
                format = "dense" if form == "array" else "csr"
                return Header((rows, columns), _dtype(dtype), format)
    return None


def _of_tns(path: str) -> Header | None:
    with _lines(path) as lines:
        dtype, shape = "float64", None
        for number, line in enumerate(lines):
            if not line.startswith("#"):
                break
            declared = _declared(line)
            if declared is not None:
                dtype, shape = declared[0], declared[1] or shape
            if number == 0 and line.startswith("# extended FROSTT"):
                order = int(next(lines).split()[0])
                shape = tuple(map(int, next(lines).split()))
                if len(shape) != order:
                    return None
        if shape is None:
            return None
        return Header(shape, _dtype(dtype), _default(len(shape)) if shape else "dense")


def _of_npy(path: str) -> Header | None:
    made = np.load(path, mmap_mode="r")
    return Header(made.shape, made.dtype.newbyteorder("="), "dense")


def _of_npz(path: str) -> Header | None:
    with zipfile.ZipFile(path) as archive, np.load(path) as members:
        if "sparsec" in members:
            stated = json.loads(str(members["sparsec"]))
            shape, dtype = tuple(stated["extents"]), _dtype(stated["element"])
            fill = members["fill"].item() if "fill" in members else None
            return Header(shape, dtype, stated["format"], fill=fill)
        if "binsparse" in members:
            descriptor = members["binsparse"].tobytes().replace(b"\0", b"").decode()
            return _of_descriptor(descriptor, members)
        shape, kind = members["shape"], members["format"].item()
        with archive.open("data.npy") as data:
            version = np.lib.format.read_magic(data)
            one = np.lib.format.read_array_header_1_0
            two = np.lib.format.read_array_header_2_0
            _, _, dtype = (one if version == (1, 0) else two)(data)
    format = kind.decode() if isinstance(kind, bytes) else str(kind)
    if format not in ("csr", "csc"):
        # As `sparsec.read` stores lists of entries.
        format = _default(len(shape))
    return Header(tuple(map(int, shape)), dtype.newbyteorder("="), format)


def _of_hdf5(path: str) -> Header | None:
    try:
        import h5py  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return None
    with h5py.File(path) as file:
        return _of_descriptor(file.attrs["binsparse"], file) if "binsparse" in file.attrs else None


def _of_descriptor(text: str | bytes, members: Any) -> Header | None:
    stated = json.loads(text)["binsparse"]
    name = _ALIASES.get(stated["format"], stated["format"])
    kind = stated["data_types"]["values"].removeprefix("iso[")
    kind = kind[:-1] if kind.count("]") > kind.count("[") else kind
    if name not in _ARRAYS or stated.get("structure"):
        return None
    fill = None
    if stated.get("fill"):
        given = np.asarray(members["fill_value"])
        if given.size != 1:
            # Complex numbers are pairs.
            return None
        fill = given.item()
    return Header(tuple(stated["shape"]), _dtype(kind), _ARRAYS[name][0], fill=fill)


def _of_parquet(path: str, columns: Sequence[str] | None, order: int | None) -> Header:
    file = _opened(path)
    named, schema = file.schema_arrow.names, file.schema_arrow
    stated = (schema.metadata or {}).get(b"sparsec.shape")
    shape = None if stated is None else _stated(path, stated)
    order = order if shape is None else len(shape)
    *coords, value = columns_of(path, named, columns, order)
    for name in coords:
        kind = schema.field(name).type
        if np.dtype(kind.to_pandas_dtype()).kind not in "iu":
            message = f"column `{name}` of `{path}` has the type {kind}, and coordinates are integers"
            raise failure("E1104", message, 'name its columns: `columns=["row", "column", "value"]`')
    dtype = np.dtype("float64" if value is None else schema.field(value).type.to_pandas_dtype())
    ranges = tuple(_range(file.metadata, named.index(name)) for name in coords)
    return Header(shape, dtype, _default(len(coords)), ranges)


def _stated(path: str, text: bytes) -> tuple[int, ...]:
    """The shape that the metadata of a schema states."""
    try:
        return tuple(checked_shape([*json.loads(text)]))
    except (ValueError, TypeError) as error:
        shown = text.decode(errors="replace")
        message = f"`{path}` states {shown!r} as `sparsec.shape`, which is no list of extents"
        raise failure("E1104", message, 'write a JSON list such as "[1000, 50]"') from error


def _range(metadata: Any, column: int) -> tuple[int, int] | None:
    found = [metadata.row_group(at).column(column).statistics for at in range(metadata.num_row_groups)]
    if not found or not all(it is not None and it.has_min_max for it in found):
        return None
    return min(it.min for it in found), max(it.max for it in found)


def _parquet() -> Any:
    try:
        import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportError(f"Parquet files need pyarrow ({error}); install it: pip install pyarrow") from error
    return pyarrow.parquet


def _opened(path: str) -> Any:
    library = _parquet()
    try:
        return library.ParquetFile(path)
    except OSError as error:
        message = f"cannot read `{path}`: {error.strerror or error}"
        raise failure("E0420", message, "check the path and the rights to read it") from error
    except ValueError as error:
        message = f"`{path}` is no Parquet file: {error}"
        raise failure("E0422", message, "copy the file again, or write it again") from error


def columns_of(
    path: str, named: Sequence[str], columns: Sequence[str] | None, order: int | None = None
) -> list[str | None]:
    """The columns of coordinates and that of values, None if all values are one."""
    if columns is not None and not (
        isinstance(columns, (list, tuple)) and all(isinstance(it, str) for it in columns)
    ):
        message = f"`columns` does not take {columns!r}"
        raise failure("E0004", message, 'name columns: `columns=["row", "column", "value"]`')
    chosen = list(named if columns is None else columns)
    for name in chosen:
        if name not in named:
            message = f"`{path}` has no column {name!r}; it has {', '.join(named)}"
            raise failure("E1104", message, 'name its columns: `columns=["row", "column", "value"]`')
    if order is not None and len(chosen) == order:
        return [*chosen, None]
    if len(chosen) < 2 or (order is not None and len(chosen) != order + 1):
        wanted = "coordinates and a value" if order is None else f"{order} coordinates and a value"
        message = f"`{path}` has the columns {', '.join(named)}, and an entry is {wanted}"
        raise failure("E1104", message, 'name its columns: `columns=["row", "column", "value"]`')
    return [*chosen]


def read_parquet(
    path: str, shape: Sequence[int], columns: Sequence[str] | None, format: str, dtype: Any
) -> Tensor:
    """The tensor of a file of triplets. Entries at one place are added.

    Raises
    ------
    InputError
        For a column that is missing or has nulls (``E1104``), and for coordinates outside of the
        shape (``E0401``).
    """
    from .._asarray import from_coo

    table = _opened(path).read(columns=None if columns is None else list(columns))
    *names, value = columns_of(path, table.column_names, columns, len(shape))
    for name in (*names, value):
        if name is not None and table[name].null_count:
            message = f"column `{name}` of `{path}` has {table[name].null_count} nulls"
            raise failure("E1104", message, "leave these rows out, or give them a number")
    lists = [table[name].to_numpy() for name in names]
    if value is None:
        values = np.ones(table.num_rows)
    else:
        values = table[value].to_numpy()
    return from_coo(lists, values, shape, format=format, dtype=dtype)


_READERS: dict[str, Callable[[str], Header | None]] = {
    ".mtx": _of_mtx,
    ".mtx.gz": _of_mtx,
    ".tns": _of_tns,
    ".tns.gz": _of_tns,
    ".npy": _of_npy,
    ".npz": _of_npz,
    ".h5": _of_hdf5,
    ".hdf5": _of_hdf5,
}
