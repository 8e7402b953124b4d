"""Clusters of local processes, and tensors to compute on them."""

from __future__ import annotations

import pickle
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec


@contextmanager
def processes(n_workers, **options):
    """A client of a cluster of so many processes of one thread each."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    with (
        dask.config.set({"distributed.admin.log-length": 0}),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            **options,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def matrix(shape, density=0.1, seed=1, format="csr"):
    rng = np.random.default_rng(seed)
    return sparsec.asarray(sp.random_array(shape, density=density, rng=rng), format=format)


def same(left, right):
    """Two tensors have equal formats, shapes, types and bits."""
    assert (left.format, left.shape, left.dtype) == (right.format, right.shape, right.dtype)
    assert pickle.dumps(left.fill_value) == pickle.dumps(right.fill_value)
    for name, array in left.buffers.items():
        assert array.tobytes() == right.buffers[name].tobytes()
