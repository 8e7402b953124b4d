"""The session of the module: its threads, its engine, its cache and its memory."""

from __future__ import annotations

import os
from typing import Any

from . import _sparsec


def configure(
    *,
    threads: int | None = None,
    backend: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    memory: int | None = None,
) -> None:
    """Chooses how kernels run from now on; what is not given stays as it is.

    Results are the same, to the bit, for any choice. Kernels that were made before are made
    anew.

    Parameters
    ----------
    threads : int, optional
        The number of threads of kernels and conversions; 0 is one for each processor, which is
        the default.
    backend : {"cranelift", "auto", "c", "interp"}, optional
        ``"cranelift"``, the default, makes machine code in memory and needs no compiler.
        ``"auto"`` begins with it and compiles C behind the caller's back; ``"c"`` waits for
        the compiler. ``"interp"`` checks every access and is slow.
    cache_dir : path, optional
        The folder that keeps compiled C for later processes, in place of the one that
        ``SPARSEC_CACHE_DIR``, ``XDG_CACHE_HOME`` or ``HOME`` names. Only root and the user may be
        able to change it.
    memory : int, optional
        How many bytes a result and its workspaces may take; 0 is as many as there are, which is
        the default.

    Raises
    ------
    InputError
        For a backend that does not exist.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.configure(threads=1)
    >>> sparsec.configuration()
    {'threads': 1, 'backend': 'cranelift', 'cache_dir': None, 'memory': 0}
    >>> sparsec.configure(threads=0)
    """
    if threads is not None and threads < 0:
        raise ValueError(f"threads is {threads}; give 0 or more")
    if memory is not None and not 0 <= memory < 2**64:
        raise ValueError(f"memory is {memory}; give a number of bytes, or 0")
    _sparsec.configure(threads, backend, cache_dir, memory)


if hasattr(os, "register_at_fork"):
    # A child does not have the threads of its parent.
    os.register_at_fork(after_in_child=_sparsec.forked)


def configuration() -> dict[str, Any]:
    """The number of threads, the engine, the folder and the memory, as `configure` takes them."""
    threads, backend, cache_dir, memory = _sparsec.configuration()
    return {"threads": threads, "backend": backend, "cache_dir": cache_dir, "memory": memory}
