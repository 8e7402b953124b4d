"""Equations of einsums, in the forms that NumPy takes, as one with a letter for each mode."""

from __future__ import annotations

import string
from typing import Any, Sequence

import numpy as np

from ._errors import failure


def equation_of(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The equation with a letter for each mode, and the operands. Ellipses become letters."""
    if not operands:
        raise failure("E0030", "einsum without an equation", 'write `einsum("ij,j->i", A, x)`')
    if isinstance(operands[0], str):
        equation, arrays = operands[0], list(operands[1:])
    else:
        equation, arrays = _of_lists(operands)
    if "..." not in equation:
        return equation, arrays
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    lists = inputs.split(",")
    if len(lists) != len(arrays):
        # The compiled part says so, with the place.
        return equation, arrays
    free = [letter for letter in string.ascii_letters if letter not in equation]
    if not arrow:
        # The letters that occur once, in alphabetical order, behind what `...` covers.
        letters = inputs.replace(".", "").replace(",", "")
        once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
        output = ("..." if "..." in inputs else "") + "".join(once)
    shapes = [tuple(x.shape) if hasattr(x, "shape") else np.shape(x) for x in arrays]
    lists, output = _without_ellipsis(lists, output, shapes, free)
    return ",".join(lists) + "->" + output, arrays


def _of_lists(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The equation of operands that alternate with lists of numbers."""
    pairs, rest = divmod(len(operands), 2)
    arrays = [operands[2 * number] for number in range(pairs)]
    lists = [operands[2 * number + 1] for number in range(pairs)]
    output = operands[-1] if rest else None

    def letters(numbers: Any) -> str:
        text = ""
        for number in numbers:
            if number is Ellipsis:
                text += "..."
            elif isinstance(number, (int, np.integer)) and 0 <= number < 52:
                text += (string.ascii_uppercase + string.ascii_lowercase)[number]
            else:
                message = f"{number!r} is no number of a mode"
                raise failure("E0030", message, "give numbers from 0 to 51, or Ellipsis")
        return text

    equation = ",".join(letters(numbers) for numbers in lists)
    return equation + ("" if output is None else "->" + letters(output)), arrays


def _without_ellipsis(
    lists: list[str], output: str, shapes: Sequence[tuple[int, ...]], free: list[str]
) -> tuple[list[str], str]:
    """Letters in place of ellipses: those of the last modes are shared by all operands."""
    n_named = [len(text.replace("...", "")) for text in lists]
    n_hidden = [
        len(shape) - n if "..." in text else 0
        for text, shape, n in zip(lists, shapes, n_named)
    ]
    for number, (hidden, shape) in enumerate(zip(n_hidden, shapes)):
        if hidden < 0:
            raise failure(
                "E0032",
                f"operand {number} has {len(shape)} modes and {n_named[number]} letters",
                "give each mode a letter, or cover several by `...`",
            )
    longest = max(n_hidden)
    if longest > len(free):
        raise failure("E0030", "an einsum of more than 52 modes", "contract it in two steps")
    letters = "".join(free[:longest])
    del free[:longest]
    texts = [text.replace("...", letters[longest - n :]) for text, n in zip(lists, n_hidden)]
    return texts, output.replace("...", letters)
