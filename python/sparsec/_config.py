"""The session of the module: its threads and its engine."""

from __future__ import annotations

from . import _sparsec


def configure(*, threads: int | None = None, backend: str | None = None) -> None:
    """Chooses how kernels run from now on.

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

    Raises
    ------
    InputError
        For a backend that does not exist.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.configure(threads=1)
    >>> sparsec.configuration()
    {'threads': 1, 'backend': 'cranelift'}
    >>> sparsec.configure(threads=0)
    """
    if threads is not None and threads < 0:
        raise ValueError(f"threads is {threads}; give 0 or more")
    _sparsec.configure(threads, backend)


def configuration() -> dict[str, int | str]:
    """The number of threads and the engine, as `configure` takes them."""
    threads, backend = _sparsec.configuration()
    return {"threads": threads, "backend": backend}
