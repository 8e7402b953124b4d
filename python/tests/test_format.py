"""The class `Format`: texts of formats, read and compared."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import sparsec
from sparsec import Format


@pytest.mark.parametrize(
    "text, name",
    [
        ("(r, c) -> (r : dense, c : compressed)", "csr"),
        ("(a, b, c) -> (a : dense, b : dense, c : dense)", "dense"),
        ("(r, c) -> (r : compressed, c : dense)", "(i, j) -> (i : compressed, j : dense)"),
        ("(r, c) -> (r : dense, c : compressed), lower(r, c)", "csr, lower(i, j)"),
        ("csf", "csf"),
    ],
)
def test_formats_that_arrange_alike_are_equal(text, name):
    made = Format(text)
    assert made == name == Format(name)
    assert hash(made) == hash(name)
    assert {made: 1}[Format(name)] == 1
    assert made != Format("csc")
    assert repr(made) == f"Format({name!r})"


@pytest.mark.parametrize(
    "text", ["csr", "csc", "coo", "dcsr", "bsr(2, 2)", "dia", "ell", "jds", "hyb(2)"]
)
def test_formats_of_tensors(text):
    tensor = sparsec.asarray(np.eye(4), format=Format(text))
    made = Format(tensor.format, order=2)
    assert made == tensor.format
    assert made.order == 2
    if text != "jds":
        assert made.levels == tensor.levels
        assert made == Format(text, order=2)


def test_a_format_stands_wherever_text_does():
    csc = Format("csc")
    A = sparsec.from_coo([[0, 1], [1, 0]], [1.0, 2.0], shape=(2, 2), format=csc)
    assert A.format == csc
    assert A.convert(Format("csr")).format == "csr"
    assert sparsec.evaluate("B(i,j) = A(j,i)", A=A, out_format=csc).format == "csc"
    assert sparsec.evaluate("B(i,j) = A(j,i)", A=A, out_format={"B": csc}).format == "csc"
    assert sparsec.einsum("ij,jk->ik", A, A, out_format=csc).format == "csc"
    assert sparsec.from_buffers(csc, (2, 2), A.buffers).format == "csc"


def test_formats_for_any_order():
    csf = Format("csf")
    assert csf.order is None
    with pytest.raises(sparsec.InputError, match="order=3") as error:
        csf.levels
    assert error.value.code == "E0115"
    assert Format("csf", order=1).levels == ("i : compressed",)
    assert Format("jds").levels == ()


def test_formats_are_copied():
    for one in (Format("csf", order=3), Format("csf"), Format("bsr(2, 3)")):
        for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert type(other) is Format
            assert (other, other.order) == (one, one.order)


def test_mistakes():
    for text, order, code in (
        ("nothing", None, "E0110"),
        ("csr", 3, "E0115"),
        ("csf", -1, "E0115"),
        ("csf", 2**64, "E0115"),
    ):
        with pytest.raises(sparsec.InputError) as error:
            Format(text, order)
        assert error.value.code == code
    with pytest.raises(TypeError, match="int"):
        Format(3)
