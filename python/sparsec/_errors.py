"""Exceptions that carry a coded diagnostic.

==================  ================  ==============================================
class               is also a         for
==================  ================  ==============================================
`InputError`        `ValueError`      shapes, indices, formats, expressions, files
`DtypeError`        `TypeError`       types that do not mix, or that no tensor stores
`OutOfMemoryError`  `MemoryError`     results that take more memory than there is
`FileError`         `OSError`         files that cannot be opened or written
`ClusterError`      `RuntimeError`    workers and schedulers that end
==================  ================  ==============================================
"""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """An error of sparsec.

    ``str(error)`` is the whole diagnostic: the code, the message, the source line with a
    caret, and the way out.

    Attributes
    ----------
    code : str
        The code, such as ``"E0203"``.
    message : str
        What is wrong, in one line.

    Examples
    --------
    >>> import sparsec
    >>> try:
    ...     sparsec.evaluate("y(i) = A(i,j", A=1.0)
    ... except sparsec.Error as error:
    ...     print(error.code, isinstance(error, ValueError))
    ...     print(error.explanation.splitlines()[0])
    E0101 True
    E0101: unexpected token
    """

    code: str = ""
    message: str = ""

    @property
    def explanation(self) -> str:
        """What the code means, with an example and the way out."""
        from . import _sparsec

        return _sparsec.explanation(self.code)

    def __reduce__(self) -> Any:
        # What other processes make of the attributes alone is no `MemoryError`.
        return of_diagnostic, (self.code, self.message, str(self))


class InputError(Error, ValueError):
    """Shapes, indices, formats, expressions or contents of files that are wrong."""


class DtypeError(Error, TypeError):
    """Types that an operator does not take, or that no tensor stores."""


class OutOfMemoryError(Error, MemoryError):
    """A tensor or a result that takes more memory than there is."""


class FileError(Error, OSError):
    """A file that cannot be opened or written."""


class ClusterError(Error, RuntimeError):
    """A cluster that ended, or workers that ended again and again."""


#: Codes whose exception is no `InputError`.
_CLASSES: dict[str, type[Error]] = {
    "E0208": DtypeError,
    "E0223": DtypeError,
    "E0224": DtypeError,
    "E0451": DtypeError,
    "E0407": OutOfMemoryError,
    "E0508": OutOfMemoryError,
    "E0514": OutOfMemoryError,
    "E0420": FileError,
    "E0427": FileError,
    "E1107": ClusterError,
    "E1108": ClusterError,
}


def of_diagnostic(code: str, message: str, text: str) -> Error:
    """The exception of a diagnostic: its code, its first line, and its whole text."""
    error = _CLASSES.get(code, InputError)(text)
    error.code = code
    error.message = message
    return error


def failure(code: str, message: str, help: str) -> Error:
    """An exception for what is found before the compiled part is called."""
    return of_diagnostic(code, message, f"error[{code}]: {message}\n  = help: {help}")
