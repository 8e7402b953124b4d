"""Tensors in notebooks: a headline, a plot of where entries lie, and the tree of levels."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._tensor import Tensor

#: Cells of the plot along the longer mode, and their size in pixels.
_CELLS = 64
_PIXELS = 4
#: Entries that are looked at for the plot; of more, this many at equal distances.
_MOST = 100_000


def html(tensor: Tensor) -> str:
    """The tensor as a piece of HTML, without scripts or styles of its own page.

    Time linear in the stored entries, of which at most 100,000 are drawn.
    """
    lines = tensor._stored.text(0, 0).splitlines()
    headline = f"sparsec.Tensor {lines[0]}"
    parts = [f"<p><code>{escape(headline)}</code></p>"]
    if tensor.ndim == 2 and tensor.size:
        parts.append(_spy(tensor))
    parts.append(_tree(tensor))
    return "<div>" + "".join(parts) + "</div>"


def _spy(tensor: Tensor) -> str:
    """A plot of a matrix: the darker a cell, the more of its places are stored."""
    rows, columns = tensor.shape
    scale = max(1.0, max(rows, columns) / _CELLS)
    n_rows, n_columns = (max(1, int(np.ceil(extent / scale))) for extent in (rows, columns))
    (i, j), _ = tensor.to_coo()
    step = max(1, len(i) // _MOST)
    i, j = i[::step], j[::step]
    cells = (i / scale).astype(np.int64) * n_columns + (j / scale).astype(np.int64)
    filled, counts = np.unique(cells, return_counts=True)
    darkness = np.sqrt(counts / counts.max()) if len(counts) else counts
    squares = "".join(
        f'<rect x="{cell % n_columns * _PIXELS}" y="{cell // n_columns * _PIXELS}" '
        f'width="{_PIXELS}" height="{_PIXELS}" fill-opacity="{max(dark, 0.15):.2f}"/>'
        for cell, dark in zip(filled.tolist(), darkness.tolist())
    )
    width, height = n_columns * _PIXELS, n_rows * _PIXELS
    title = f"{len(i)} of {tensor.nnz} entries" if step > 1 else f"{tensor.nnz} entries"
    return (
        f'<svg width="{width}" height="{height}" role="img" fill="currentColor">'
        f"<title>{title}</title>"
        f'<rect width="{width}" height="{height}" fill="none" stroke="currentColor"/>'
        f"{squares}</svg>"
    )


def _tree(tensor: Tensor) -> str:
    """The levels, each inside the one before, with their arrays."""
    buffers = tensor.buffers
    opened = ""
    for number, level in enumerate(tensor.levels):
        own = [
            name
            for name in buffers
            if name != "vals" and (tensor._stored.is_relation or name.endswith(str(number)))
        ]
        arrays = ", ".join(f"{name}: {buffers[name].dtype}[{buffers[name].size}]" for name in own)
        text = level + (f" ({arrays})" if arrays else "")
        opened += f"<ul><li><code>{escape(text)}</code>"
    values = buffers["vals"]
    leaf = f"<ul><li><code>vals: {values.dtype}[{len(values)}]</code></li></ul>"
    return opened + leaf + "</li></ul>" * len(tensor.levels)
