"""Tensors as chunks of Dask arrays, and programs computed by a cluster of Dask.

Needs ``dask`` and ``distributed``: ``pip install "dask[array]" distributed``.

===========================  ========================================================
function                     does
===========================  ========================================================
`evaluate`                   computes a program shard by shard on a cluster
`evaluate_to`                the same, and writes each part as it is made
`explain`                    shows the plan of shards, and what its run took
`shard`                      a Dask array of a tensor, in shards balanced by entries
`read`                       a Dask array of the files of a folder
`from_dask`, `from_delayed`  Dask arrays whose chunks are sparsec's tensors
===========================  ========================================================

::

    client                          scheduler                       workers
    plan of shards  ──one task a shard, with its slices──►  kernel (compiled once a worker)
    result          ◄──join─────────────────────────────  partial results, combined in a tree

Shards follow from the operands and from the bytes of a shard, never from the workers. Results have
the same bits on any cluster, and if a worker ends and Dask computes its tasks again. Slices of
operands are part of the tasks, so that they can be sent again; whole operands are sent once and
passed on by workers.

Examples
--------
>>> import numpy as np, sparsec, sparsec.dask
>>> A = sparsec.asarray(np.diag([1.0, 2.0, 3.0, 4.0]), format="csr")
>>> x = sparsec.dask.shard(A, by="i", n=2)
>>> x.chunks
((2, 2), (4,))
>>> x.sum(axis=0).compute().to_numpy()
array([1., 2., 3., 4.])
"""

from __future__ import annotations

try:
    import dask.array  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'sparsec.dask needs Dask ({error}); install it: pip install "dask[array]" distributed'
    ) from error

from ._arrays import from_dask, from_delayed, shard
from ._files import read
from ._programs import evaluate, evaluate_to, explain

__all__ = ["evaluate", "evaluate_to", "explain", "from_dask", "from_delayed", "read", "shard"]
