"""The class `Format`."""

from __future__ import annotations

from . import _sparsec
from ._errors import failure


class Format(str):
    """How the entries of tensors are arranged: a text that was read and is right.

    Each function that takes the text of a format takes a `Format`, which is that text, too. Formats
    that arrange entries alike are equal, whatever their modes are called, and equal to
    `Tensor.format`.

    Parameters
    ----------
    text : str
        A preset such as ``"csr"``, a map such as ``"(i, j) -> (j : compressed, i : dense)"``, or
        the text of a ``.fmt`` file.
    order : int, optional
        How many modes tensors have. Presets such as ``"csf"`` are for any number, and other
        formats say it themselves.

    Raises
    ------
    InputError
        For what is wrong with the text, with the place (``E0110`` and others), and for an order
        that the format does not have (``E0115``).

    Examples
    --------
    >>> import sparsec
    >>> rows = sparsec.Format("(r, c) -> (r : dense, c : compressed)")
    >>> rows, rows.order, rows.levels
    (Format('csr'), 2, ('i : dense', 'j : compressed'))
    >>> sparsec.asarray([[0.0, 2.0]], format=rows).format == rows == sparsec.Format("csr")
    True
    >>> sparsec.Format("csf", order=3).levels
    ('i : compressed', 'j : compressed', 'k : compressed')
    """

    __slots__ = ("_levels", "_order")

    _levels: tuple[str, ...] | None
    _order: int | None

    def __new__(cls, text: str, order: int | None = None) -> Format:
        if not isinstance(text, str):
            raise TypeError(f"the text of a format is a str, and not {type(text).__name__}")
        if order is not None and not 0 <= order < 2**63:
            raise failure("E0115", f"no tensor has {order} modes", "give 0 or more")
        name, known, levels = _sparsec.format(text, order)
        made = super().__new__(cls, name)
        made._order = known
        made._levels = None if levels is None else tuple(levels)
        return made

    @property
    def order(self) -> int | None:
        """How many modes tensors have; None for a preset that is for any number."""
        return self._order

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of storage, outermost first: what each stores, and its kind. A format that is
        a relation has none.

        Raises
        ------
        InputError
            If the format is for any number of modes (``E0115``).
        """
        if self._order is None:
            message = f"`{self}` has other levels for each number of modes"
            raise failure("E0115", message, f'give it: `Format("{self}", order=3).levels`')
        return self._levels or ()

    def __repr__(self) -> str:
        return f"Format({str.__repr__(self)})"

    def __getnewargs__(self) -> tuple[str, int | None]:  # type: ignore[override]
        return str.__str__(self), self._order
