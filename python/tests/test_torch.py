"""Derivatives for PyTorch, beside PyTorch's own of the dense computation, and differences."""

from __future__ import annotations

import numpy as np
import pytest

import sparsec

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if tuple(map(int, torch.__version__.split("+")[0].split(".")[:2])) < (2, 4):
    pytest.skip("PyTorch is older than 2.4", allow_module_level=True)

from sparsec.torch import Sparse, evaluate  # noqa: E402


def pattern(rng, shape, format="csr"):
    """Where a sparse operand stores entries: the places, and the structure."""
    places = rng.random(shape) < 0.5
    places.flat[0] = True
    return places, sparsec.asarray(places.astype(float), format=format)


def operands(rng, *shapes):
    made = [torch.from_numpy(rng.random(shape) + 0.1) for shape in shapes]
    return [x.requires_grad_() for x in made]


def scattered(places, values):
    """The dense matrix with these values, in row-major order of the places."""
    rows, columns = (torch.from_numpy(x) for x in np.nonzero(places))
    return torch.zeros(places.shape, dtype=values.dtype).index_put((rows, columns), values)


def compare(ours, theirs, given):
    torch.testing.assert_close(ours, theirs)
    weights = torch.linspace(0.5, 1.5, ours.numel(), dtype=ours.dtype).reshape(ours.shape)
    made = torch.autograd.grad((ours * weights).sum(), given)
    expected = torch.autograd.grad((theirs * weights).sum(), given)
    for one, other in zip(made, expected):
        torch.testing.assert_close(one, other)


def test_spmm(rng):
    places, structure = pattern(rng, (5, 6))
    values, X = operands(rng, int(places.sum()), (6, 3))
    Y = evaluate("Y(i,k) = A(i,j) * X(j,k)", A=Sparse(structure, values), X=X)
    compare(Y, scattered(places, values) @ X, [values, X])


def test_sddmm(rng):
    places, structure = pattern(rng, (5, 6))
    values, A, B = operands(rng, int(places.sum()), (5, 3), (3, 6))
    made = evaluate("C(i,j) = S(i,j) * A(i,k) * B(k,j)", values_of="S",
                    S=Sparse(structure, values), A=A, B=B)
    rows, columns = np.nonzero(places)
    compare(made, (scattered(places, values) * (A @ B))[rows, columns], [values, A, B])


def test_mttkrp(rng):
    dense = rng.random((3, 4, 5)) * (rng.random((3, 4, 5)) < 0.4)
    T = sparsec.asarray(dense, format="csf")
    B, C = operands(rng, (4, 2), (5, 2))
    made = evaluate("M(i,r) = T(i,j,k) * B(j,r) * C(k,r)", T=T, B=B, C=C)
    compare(made, torch.einsum("ijk,jr,kr->ir", torch.from_numpy(dense), B, C), [B, C])


#: A layer of graph attention, one head: the shares of neighbours, and what they say.
ATTENTION = """
e(i,j) = G(i,j) * exp(max(s(i) + t(j), 0.2 * (s(i) + t(j))))
z(i) = sum{j}(e(i,j))
Y(i,c) = e(i,j) / z(i) * H(j,c)
"""


def test_graph_attention(rng):
    places, structure = pattern(rng, (6, 6))
    np.fill_diagonal(places, True)
    structure = sparsec.asarray(places.astype(float), format="csr")
    s, t, H = operands(rng, 6, 6, (6, 3))
    made = evaluate(ATTENTION, G=structure, s=s, t=t, H=H)
    scores = torch.nn.functional.leaky_relu(s[:, None] + t[None, :], 0.2)
    scores = scores.masked_fill(~torch.from_numpy(places), -torch.inf)
    compare(made, torch.softmax(scores, dim=1) @ H, [s, t, H])


@pytest.mark.parametrize("program", [
    "y(i) = A(i,j) * x(j)",
    "y = sum{i,j}(A(i,j) * A(i,j) * x(j))",
    "y(i,j) = A(i,j) * exp(-x(j))",
    "t(i) = A(i,j) * x(j)\ny(i) = t(i) * t(i) / (1 + t(i))",
])
def test_differences(rng, program):
    places, structure = pattern(rng, (4, 5))
    values, x = operands(rng, int(places.sum()), 5)

    def function(values, x):
        return evaluate(program, A=Sparse(structure, values), x=x)

    assert torch.autograd.gradcheck(function, (values, x))


def test_training(rng):
    """A linear model of sparse data is found again."""
    places, structure = pattern(rng, (40, 5))
    A = Sparse(structure)
    wanted = torch.linspace(-1, 1, 5, dtype=torch.float64)
    y = evaluate("y(i) = A(i,j) * w(j)", A=A, w=wanted)
    w = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.4)
    for _ in range(60):
        optimizer.zero_grad()
        loss = ((evaluate("y(i) = A(i,j) * w(j)", A=A, w=w) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    torch.testing.assert_close(w.detach(), wanted, atol=1e-2, rtol=0)


def test_compiled_functions(rng):
    places, structure = pattern(rng, (5, 6))
    A = Sparse(structure)

    def layer(X):
        return torch.relu(evaluate("Y(i,k) = A(i,j) * X(j,k)", A=A, X=X) - 1).sum()

    (X,) = operands(rng, (6, 3))
    compiled = torch.compile(layer, backend="aot_eager")
    torch.testing.assert_close(compiled(X), layer(X))
    (made,), (expected,) = (torch.autograd.grad(f(X), X) for f in (compiled, layer))
    torch.testing.assert_close(made, expected)


def test_the_operator_keeps_its_promises(rng):
    places, structure = pattern(rng, (4, 5))
    values, x = operands(rng, int(places.sum()), 5)
    A = Sparse(structure, values)
    torch.library.opcheck(
        torch.ops.sparsec.evaluate.default,
        ("y(i) = A(i,j) * x(j)", "A,x", "", [values, x], [A._kept.number, 0]),
        test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
    )


def test_what_has_no_derivative(rng):
    (x,) = operands(rng, 5)
    y = evaluate("y = prod{i}(x(i))", x=x)
    with pytest.raises(sparsec.InputError, match="prod"):
        y.backward()
    places, structure = pattern(rng, (4, 5))
    with pytest.raises(sparsec.InputError, match="stored entries"):
        Sparse(structure, torch.ones(3))
