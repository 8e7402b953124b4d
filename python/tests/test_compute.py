"""What tensors compute, beside NumPy and SciPy."""

from __future__ import annotations

import glob
import operator
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec

FORMATS = ["csr", "csc", "coo", "dcsr", "dense", "bsr(2, 3)", "dia"]


def matrix(rng, shape=(6, 9), dtype="float64"):
    dense = rng.integers(-4, 9, shape) * (rng.random(shape) < 0.4)
    return dense.astype(dtype)


def random_csr(rng, n, density):
    n_entries = int(density * n * n)
    places = (rng.integers(0, n, n_entries), rng.integers(0, n, n_entries))
    return sp.coo_array((rng.random(n_entries), places), shape=(n, n)).tocsr()


@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_programs_over_formats(rng, format, other):
    a, b, x = matrix(rng), matrix(rng), rng.integers(0, 5, 9).astype(float)
    A, B = sparsec.asarray(a, format=format), sparsec.asarray(b, format=other)
    y = sparsec.evaluate("y(i) = (A(i,j) + B(i,j)) * x(j)", A=A, B=B, x=x)
    np.testing.assert_array_equal(y.to_numpy(), (a + b) @ x)
    C = sparsec.evaluate("C(i,k) = A(i,j) * B(k,j)", A=A, B=B, out_format="csr")
    assert C.format == "csr"
    np.testing.assert_array_equal(C.to_numpy(), a @ b.T)


OPERATORS = [operator.add, operator.sub, operator.mul, operator.eq, operator.ne, operator.lt,
             operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("format", FORMATS)
def test_operators(rng, format, op):
    a, b = matrix(rng), matrix(rng)
    A, B = sparsec.asarray(a, format=format), sparsec.asarray(b, format="csr")
    np.testing.assert_array_equal(op(A, B).to_numpy(), op(a, b))
    np.testing.assert_array_equal(op(A, b).to_numpy(), op(a, b))
    np.testing.assert_array_equal(op(a, B).to_numpy(), op(a, b))
    np.testing.assert_array_equal(op(A, 2).to_numpy(), op(a, 2))
    np.testing.assert_array_equal(op(-1.5, A).to_numpy(), op(-1.5, a))
    np.testing.assert_array_equal(op(A, b[0]).to_numpy(), op(a, b[0]))
    np.testing.assert_array_equal(op(A, b[:, :1]).to_numpy(), op(a, b[:, :1]))
    np.testing.assert_array_equal(op(b[:, :1], A).to_numpy(), op(b[:, :1], a))
    np.testing.assert_array_equal(op(sparsec.asarray(b[:1]), sparsec.asarray(a[:, :1])).to_numpy(),
                                  op(b[:1], a[:, :1]))


@pytest.mark.parametrize("op", [operator.truediv, operator.floordiv, operator.mod, operator.pow])
def test_operators_on_what_is_not_zero(rng, op):
    a, b = matrix(rng), rng.integers(1, 4, (6, 9)).astype(float)
    A = sparsec.asarray(a, format="csr")
    np.testing.assert_allclose(op(A, b).to_numpy(), op(a, b))
    np.testing.assert_allclose(op(A, 2).to_numpy(), op(a, 2))
    np.testing.assert_allclose(op(3, sparsec.asarray(b)).to_numpy(), op(3, b))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "complex128"])
def test_types_mix_as_in_numpy(rng, dtype):
    a = matrix(rng, dtype=dtype)
    A = sparsec.asarray(a, format="csr")
    for number in (2, 2.5, np.float32(2.5), np.int8(3), True):
        made, expected = A * number, a * number
        assert made.dtype == expected.dtype, number
        np.testing.assert_array_equal(made.to_numpy(), expected)
    for number in (1.5 - 2j, np.complex64(1j)):
        made, expected = A + number, a + number
        assert made.dtype == expected.dtype and made.fill_value == number
        np.testing.assert_array_equal(made.to_numpy(), expected)
    made = A + matrix(rng, dtype="float32")
    assert made.dtype == np.promote_types(dtype, "float32")
    assert (-A).dtype == A.dtype and abs(A).dtype == abs(a).dtype


def test_halves_are_computed_in_single_precision(rng):
    a = matrix(rng, dtype="float16")
    A = sparsec.asarray(a, format="csr")
    assert A.dtype == np.float16
    np.testing.assert_array_equal((A + A).to_numpy(), a + a)
    np.testing.assert_array_equal((A * 0.5).astype("float16").to_numpy(), a * np.float16(0.5))


def test_a_sparse_operand_keeps_its_entries_beside_a_number(rng):
    A = sparsec.asarray(matrix(rng), format="csr")
    assert (A * 3).nnz == (A / 3).nnz == A.nnz
    plus = A + 1
    assert plus.fill_value == 1 and plus.nnz == A.nnz


REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "mean"]


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(rng, name, axis, keepdims):
    dense = (rng.integers(-3, 4, (3, 4, 5)) * (rng.random((3, 4, 5)) < 0.7)).astype(float)
    tensor = sparsec.asarray(dense, format="csf")
    made = getattr(tensor, name)(axis=axis, keepdims=keepdims)
    expected = getattr(dense, name)(axis=axis, keepdims=keepdims)
    assert made.shape == np.shape(expected) and made.dtype == expected.dtype
    np.testing.assert_allclose(made.to_numpy(), expected)


def test_reductions_of_integers_and_truth_values():
    truth = np.array([[True, False], [True, True]])
    assert sparsec.asarray(truth, format="csr").sum().item() == 3
    assert sparsec.asarray(truth).mean().item() == 0.75
    bytes_ = np.full(1000, 100, dtype=np.int8)
    assert sparsec.asarray(bytes_).sum().item() == 100_000


@pytest.mark.parametrize("shapes", [((5,), (5,)), ((4, 5), (5,)), ((5,), (5, 3)), ((4, 5), (5, 3)),
                                    ((2, 4, 5), (5, 3)), ((2, 4, 5), (2, 5, 3)),
                                    ((2, 4, 5), (5,)), ((5,), (2, 5, 3)), ((1, 4, 5), (7, 5, 3))])
def test_products_of_matrices(rng, shapes):
    a, b = (rng.integers(-3, 4, shape).astype(float) for shape in shapes)
    for first in (sparsec.asarray(a), sparsec.asarray(a, format="csf" if a.ndim != 2 else "csr")):
        np.testing.assert_array_equal((first @ b).to_numpy(), a @ b)
        np.testing.assert_array_equal((a @ sparsec.asarray(b)).to_numpy(), a @ b)


EQUATIONS = [
    ("ij,jk->ik", (4, 5), (5, 3)), ("ij,jk", (4, 5), (5, 3)), ("ii->i", (4, 4)), ("ii", (4, 4)),
    ("ij->ji", (4, 5)), ("ij->", (4, 5)), ("ba", (4, 5)), ("i,j->ij", (4,), (5,)),
    (",i->i", (), (4,)), ("ijk,kl,lm,m->ij", (3, 4, 5), (5, 2), (2, 6), (6,)),
    ("...ij,...jk->...ik", (2, 4, 5), (2, 5, 3)), ("...ij,...jk", (2, 4, 5), (5, 3)),
    ("i...->...", (3, 4, 5)), ("...,...", (3, 1), (1, 4)), ("ij,ij->ij", (3, 1), (3, 4)),
    ("ij, j -> i", (4, 5), (5,)), ("...a,a...->...", (4, 5), (5, 4)), ("Ab,bA->A", (4, 5), (5, 4)),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda case: case[0])
def test_einsums(rng, case):
    equation, *shapes = case
    arrays = [rng.integers(-3, 4, shape).astype(float) for shape in shapes]
    expected = np.einsum(equation, *arrays)
    dense = sparsec.einsum(equation, *arrays)
    np.testing.assert_allclose(dense.to_numpy(), expected)
    sparse = [sparsec.asarray(x, format="csr" if x.ndim == 2 else "csf") if x.ndim else x
              for x in arrays]
    made = sparsec.einsum(equation, *sparse, optimize=True)
    assert made.shape == expected.shape
    np.testing.assert_allclose(made.to_numpy(), expected)


def test_einsums_of_lists(rng):
    a, b = rng.random((4, 5)), rng.random((5, 3))
    np.testing.assert_allclose(sparsec.einsum(a, [0, 1], b, [1, 2], [0, 2]).to_numpy(), a @ b)
    np.testing.assert_allclose(sparsec.einsum(a, [0, 1], b, [1, 2]).to_numpy(), a @ b)
    assert sparsec.einsum("ij,jk->ik", a, b, out_format="csr").format == "csr"


def test_functions_of_numpy_dispatch(rng):
    a = abs(matrix(rng))
    A = sparsec.asarray(a, format="csr")
    for function in (np.sqrt, np.sin, np.expm1, np.sign, np.isfinite, np.negative, np.square):
        made = function(A)
        assert isinstance(made, sparsec.Tensor)
        np.testing.assert_allclose(made.to_numpy(), function(a))
    assert np.sqrt(A).nnz == A.nnz
    np.testing.assert_array_equal(np.maximum(A, 2).to_numpy(), np.maximum(a, 2))
    np.testing.assert_array_equal(np.matmul(a, A.T).to_numpy(), a @ a.T)
    np.testing.assert_allclose(np.add.reduce(A).to_numpy(), a.sum(axis=0))
    with pytest.raises(TypeError):
        np.add.accumulate(A)


def test_indexing(rng):
    dense = rng.integers(0, 3, (4, 5, 6)).astype(np.int32)
    tensor = sparsec.asarray(dense, format="csf")
    keys = [0, -1, (1, 2), (1, 2, 3), (slice(1, 3),), (Ellipsis, 2), (slice(None), 1, slice(0, 6, 2)),
            (slice(-2, None), slice(2, 2)), Ellipsis]
    for key in keys:
        made, expected = tensor[key], dense[key]
        assert np.shape(expected) == getattr(made, "shape", ())
        np.testing.assert_array_equal(made.to_numpy() if np.ndim(expected) else made, expected)
        assert made.dtype == expected.dtype
    for key, error in [(4, IndexError), ((0, 0, 0, 0), IndexError), ("i", TypeError), (1.5, TypeError)]:
        with pytest.raises(error):
            tensor[key]


def test_modes_in_another_order(rng):
    dense = rng.random((2, 3, 4))
    tensor = sparsec.asarray(dense, format="csf")
    np.testing.assert_array_equal(tensor.T.to_numpy(), dense.T)
    np.testing.assert_array_equal(tensor.mT.to_numpy(), dense.swapaxes(1, 2))
    np.testing.assert_array_equal(tensor.permute_dims((1, -1, 0)).to_numpy(), dense.transpose(1, 2, 0))
    with pytest.raises(sparsec.InputError):
        tensor.permute_dims((0, 0, 1))


def test_whole_language(rng):
    a = matrix(rng, (5, 5))
    A = sparsec.asarray(a, format="csr")
    results = sparsec.evaluate_all(
        "def half(x) = x / 2\n"
        "B(i,j) = half(A(i,j)) + A(j,i)\n"
        "m(i) = max{j}(B(i,j))\n"
        "y(i) = m(i) - 2 * m(i - 1)",
        {"A": A}, extents={"i": 5})
    b = a / 2 + a.T
    m = b.max(axis=1)
    np.testing.assert_array_equal(results["B"].to_numpy(), b)
    np.testing.assert_array_equal(results["y"].to_numpy(), m - 2 * np.concatenate([[0], m[:-1]]))
    eye = sparsec.evaluate("E(i,j) = select(i == j, 1.0, 0.0)", extents={"i": 3, "j": 3})
    np.testing.assert_array_equal(eye.to_numpy(), np.eye(3))
    assert "forall" in sparsec.explain("y(i) = A(i,j) * A(j,i)", A=A, stage="concrete")


def test_a_kernel_takes_any_shapes(rng):
    for n in (1, 3, 50, 200):
        a = random_csr(rng, n, 0.2)
        x = rng.random(n)
        y = sparsec.evaluate("y(i) = A(i,j) * x(j)", A=a, x=x)
        np.testing.assert_allclose(y.to_numpy(), a @ x)


def test_operands_of_a_call_are_free_afterwards(rng):
    x = np.ones(9)
    a = sp.csr_array(matrix(rng))
    for _ in range(2):
        y = sparsec.evaluate("y(i) = A(i,j) * x(j)", A=a, x=x)
        x[:] = 2.0
        a.data[:] = 1.0
    assert y.to_numpy().tolist() == (2.0 * (a.toarray() != 0).sum(axis=1)).tolist()


@pytest.mark.parametrize("backend", ["cranelift", "interp"])
@pytest.mark.parametrize("threads", [1, 2])
def test_engines_agree(rng, backend, threads):
    a = random_csr(rng, 300, 0.05)
    expected = (a @ a).toarray()
    sparsec.configure(threads=threads, backend=backend)
    try:
        known = {"threads": threads, "backend": backend, "cache_dir": None, "memory": 0}
        assert sparsec.configuration() == known
        np.testing.assert_allclose((sparsec.asarray(a) @ sparsec.asarray(a)).to_numpy(), expected)
    finally:
        sparsec.configure(threads=0, backend="cranelift")


def test_memory_is_limited():
    x = np.ones(1000)
    sparsec.configure(memory=100_000)
    try:
        with pytest.raises(sparsec.OutOfMemoryError) as refused:
            sparsec.evaluate("C(i,j) = x(i) * x(j)", x=x)
        assert "sparsec.configure(memory" in str(refused.value)
        assert sparsec.evaluate("y(i) = x(i) + x(i)", x=x).nnz == 1000
    finally:
        sparsec.configure(memory=0)
    assert sparsec.evaluate("C(i,j) = x(i) * x(j)", x=x).nnz == 1_000_000


@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no C compiler")
def test_compiled_kernels_are_kept_where_the_caller_says(tmp_path):
    # A process of its own, since a folder once given stays.
    program = """
import sys, numpy as np, sparsec
sparsec.configure(backend="c", cache_dir=sys.argv[1])
assert str(sparsec.configuration()["cache_dir"]) == sys.argv[1]
print(sparsec.evaluate("s = x(i) * x(i)", x=np.ones(3)).item())
"""
    folder = tmp_path / "kernels"
    run = [sys.executable, "-c", program, str(folder)]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "3.0\n"
    assert any(folder.rglob("*"))


def test_kernels_leave_the_interpreter_to_other_threads():
    n = 1500
    A = sparsec.asarray(np.ones((n, n)))
    text = "C(i,k) = A(i,j) * A(j,k)"
    sparsec.evaluate(text, A=A)
    started = time.perf_counter()
    sparsec.evaluate(text, A=A)
    alone = time.perf_counter() - started
    done = threading.Event()
    thread = threading.Thread(target=lambda: (sparsec.evaluate(text, A=A), done.set()))
    thread.start()
    longest, last = 0.0, time.perf_counter()
    while not done.is_set():
        time.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    thread.join()
    # With the lock held, this thread would have stood still for the whole kernel.
    assert longest < alone / 2


def test_many_threads_at_once(rng):
    a = random_csr(rng, 200, 0.1)
    A, expected, faults = sparsec.asarray(a), (a @ a).toarray(), []

    def work(number):
        for _ in range(5):
            made = sparsec.evaluate(f"C(i,k) = A(i,j) * A(j,k) + {number} * A(i,k)", A=A)
            if not np.allclose(made.to_numpy(), expected + number * a.toarray()):
                faults.append(number)

    threads = [threading.Thread(target=work, args=(number % 3,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_computes(rng):
    a = random_csr(rng, 2000, 0.05)
    A = sparsec.asarray(a)
    total = (A @ A).sum().item()
    child = os.fork()
    if child == 0:
        same = np.isclose((A @ A).sum().item(), total) and A.convert("csc").nnz == A.nnz
        os._exit(0 if same else 1)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_a_signal_ends_a_long_kernel():
    n = 4000
    A = sparsec.asarray(np.ones((n, n)))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        started = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                sparsec.evaluate("C(i,k) = A(i,j) * A(j,k)", A=A)
        assert time.perf_counter() - started < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def threads_by_name():
    names = []
    for path in glob.glob("/proc/self/task/*/comm"):
        try:
            names.append(open(path).read().strip())
        except OSError:  # it has just ended
            pass
    return names


def long_call(rng, what):
    """A call that takes long, on operands of its own."""
    n, extent = 300_000, 2**30
    if what == "check":
        made = sp.csr_array((n, 30), dtype=np.int8)
        made.indptr = np.arange(0, 30 * n + 1, 30, dtype=np.int32)
        made.indices = np.tile(np.arange(30, dtype=np.int32), n)
        made.data = np.ones(30 * n, np.int8)
        return lambda: sparsec.asarray(made).nnz
    if what == "few operands":
        x = np.ones(30_000)
        return lambda: sparsec.evaluate("s = sum{i,j}(sqrt(x(i) + y(j)))", x=x, y=x)
    coords, values = rng.integers(0, extent, (2, n)), np.ones(n)
    if what == "pack":
        return lambda: sparsec.from_coo(coords, values, (extent, extent), format="dcsr")
    A = sparsec.from_coo(coords, values, (extent, extent), format="coo")
    if what == "convert":
        return lambda: A.convert("dcsc")
    return lambda: A[1::2, ::3]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
@pytest.mark.parametrize("what", ["pack", "convert", "check", "slice", "few operands"])
def test_a_signal_ends_what_takes_long(rng, what):
    call = long_call(rng, what)
    started = time.perf_counter()
    call()
    whole = time.perf_counter() - started
    call = long_call(rng, what)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, whole / 4)
        # A call may take less time than the first one did.
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # The thread of the call ends, since the call was cancelled.
    for _ in range(600):
        if "sparsec-call" not in threads_by_name():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the thread of the call goes on")


def test_slices_that_descend(rng):
    a = matrix(rng)
    keys = [np.s_[::-1], np.s_[4:0:-2, ::-1], np.s_[1, ::-3], np.s_[1:3:-1], np.s_[::-1, None, 2],
            np.s_[..., -1:0:-1]]
    for format in ("csr", "dense", "coo"):
        A = sparsec.asarray(a, format=format)
        for key in keys:
            np.testing.assert_array_equal(A[key].to_numpy(), a[key])
        for key in keys[:3]:
            np.testing.assert_array_equal((sparsec.lazy(A)[key] * 2).compute().to_numpy(), a[key] * 2)


def test_one_thread_after_others(rng):
    a = random_csr(rng, 300, 0.1)
    A = sparsec.asarray(a)
    try:
        for threads in (0, 1, 2, 1):
            sparsec.configure(threads=threads)
            np.testing.assert_allclose((A @ A).to_numpy(), (a @ a).toarray())
            assert A.convert("csc").nnz == a.nnz
        sparsec.configure(threads=1)
        assert sparsec.configuration()["threads"] == 1
    finally:
        sparsec.configure(threads=0)


def test_signs_of_zeros_in_broadcasts():
    row, column = np.array([[-0.0, 0.0, 1.0]]), np.array([[-0.0], [0.0]])
    for made, expected in [
        (sparsec.asarray(row) + np.full((2, 3), -0.0), row + np.full((2, 3), -0.0)),
        (sparsec.asarray(column) + sparsec.asarray(row), column + row),
        (sparsec.asarray(row)[0], row[0]),
        (sparsec.asarray(column)[:, 0], column[:, 0]),
    ]:
        np.testing.assert_array_equal(np.signbit(made.to_numpy()), np.signbit(expected))


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "bsr(1,2)", "ell", "dia", "jds"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_signs_of_stored_zeros_in_broadcasts(format, dtype):
    def stored(values):
        """Each entry of a matrix is stored, zeros too."""
        coords = np.indices(values.shape).reshape(2, -1)
        return sparsec.from_coo(coords, values.ravel(), shape=values.shape, format=format)

    row = np.array([[-0.0, 0.0, 1.0, -0.0]], dtype)
    column, whole = np.array([[-0.0], [2.0]], dtype), np.full((2, 4), -0.0, dtype)
    one = np.array([[-0.0]], dtype)
    for a, b in ((row, whole), (whole, row), (column, whole), (one, whole), (column, row)):
        made, expected = (stored(a) + stored(b)).to_numpy(), a + b
        assert made.tobytes() == expected.tobytes()
    for made, expected in (
        (stored(row)[0], row[0]),
        (stored(whole)[1, ::2], whole[1, ::2]),
        (stored(column)[:, 0], column[:, 0]),
    ):
        assert made.dtype == dtype
        assert made.to_numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("format", ["dense", "csr", "coo", "bsr(1,2)"])
def test_signs_of_zeros_in_einsums_that_broadcast(format):
    row, whole = np.array([[-0.0, 2.0]]), np.array([[1.0, -0.0], [-3.0, 4.0]])
    A, B = sparsec.asarray(row, format=format), sparsec.asarray(whole, format=format)
    # NumPy adds products to 0, which takes their signs; those of `*` stay.
    for made in (
        sparsec.einsum("ij,ij->ij", A, B),
        sparsec.einsum("...,...->...", A, B),
        sparsec.einsum("ij,ij->ij", sparsec.lazy(A), B).compute(),
    ):
        np.testing.assert_array_equal(made.to_numpy(), row * whole)
        np.testing.assert_array_equal(np.signbit(made.to_numpy()), np.signbit((A * B).to_numpy()))
    np.testing.assert_array_equal(sparsec.einsum("ij,kj->ik", A, B).to_numpy(), row @ whole.T)
    one = sparsec.asarray(np.array([[2], [3]], dtype="int8"), format=format)
    whole = np.array([[1, 0, 5], [0, 7, 9]], dtype="int8")
    made = sparsec.einsum("ij,ij->ij", one, sparsec.asarray(whole, format=format))
    assert made.dtype == np.int8
    np.testing.assert_array_equal(made.to_numpy(), np.array([[2], [3]]) * whole)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "complex64"])
def test_broadcasts_keep_types(dtype):
    row, whole = np.array([[1, 0, 3]]).astype(dtype), np.eye(4, 3).astype(dtype)
    for format in ("csr", "csc", "coo"):
        made = sparsec.asarray(row, format=format) * sparsec.asarray(whole, format=format)
        assert made.dtype == (row * whole).dtype
        np.testing.assert_array_equal(made.to_numpy(), row * whole)
        assert sparsec.asarray(row, format=format)[0].dtype == dtype


def test_functions_in_a_type():
    a = np.asarray([[100, 0], [0, -3]], dtype=np.int8)
    A = sparsec.asarray(a, format="csr")
    for made, expected in (
        (np.add(A, A, dtype=np.int16), np.add(a, a, dtype=np.int16)),
        (np.multiply(A, A, dtype=np.float64), np.multiply(a, a, dtype=np.float64)),
        (np.add(A, 100, dtype=np.int32), np.add(a, 100, dtype=np.int32)),
        (np.matmul(A, A, dtype=np.int32), np.matmul(a, a, dtype=np.int32)),
        (np.less(A, 1, dtype=bool), np.less(a, 1, dtype=bool)),
        (np.add.reduce(A, dtype=np.float32), np.add.reduce(a, dtype=np.float32)),
        (A.sum(dtype=np.int32), a.sum(dtype=np.int32)),
        (A.sum(axis=0, dtype=np.float32), a.sum(axis=0, dtype=np.float32)),
    ):
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made.to_numpy(), expected)


def test_estimates_run_beside_other_threads():
    """The interpreter's lock is free while entries are counted."""
    n = 2_000_000
    A = sparsec.from_coo([np.arange(n), np.arange(n)[::-1]], np.ones(n), (n, n))
    # A thread that waits for the lock would get it by itself after this time.
    before = sys.getswitchinterval()
    ticks, is_over = [0], threading.Event()

    def count():
        while not is_over.is_set():
            ticks[0] += 1
            time.sleep(0)

    def ran_beside():
        """Whether the other thread ran during a call."""
        started = ticks[0]
        sparsec._sparsec.estimated("C(i,k) = A(i,j) * A(j,k)", [("A", A._stored)], [], [], {})
        return ticks[0] > started

    thread = threading.Thread(target=count)
    try:
        sys.setswitchinterval(60)
        thread.start()
        # Calls are short, and a thread may wake up late.
        assert any(ran_beside() for _ in range(1000))
    finally:
        is_over.set()
        sys.setswitchinterval(before)
        thread.join()


def test_products_with_a_dense_factor_are_dense_where_that_takes_no_more_memory(rng):
    dense = rng.integers(-3, 4, (40, 30)) * (rng.random((40, 30)) < 0.3) * 1.0
    x, X = rng.integers(0, 5, 30) * 1.0, rng.integers(0, 5, (30, 2)) * 1.0
    y, Y = rng.integers(0, 5, 40) * 1.0, rng.integers(0, 5, (2, 40)) * 1.0
    for format in ("csr", "csc", "coo", "dcsr"):
        A = sparsec.asarray(dense, format=format)
        for made, expected in (
            (A @ x, dense @ x),
            (A @ X, dense @ X),
            (y @ A, y @ dense),
            (Y @ A, Y @ dense),
            (A.T @ y, dense.T @ y),
        ):
            assert all(": dense" in level for level in made.levels), format
            np.testing.assert_array_equal(np.asarray(made), expected)
    # Fewer entries than rows: the result stores those that there are.
    few = sparsec.from_coo([[5, 7], [0, 2]], [2.0, 3.0], shape=(2**40, 3), format="csc")
    made = few @ np.array([1.0, 10.0, 100.0])
    assert made.nnz == 2
    assert [made[5], made[7], made[6]] == [2.0, 300.0, 0.0]
