"""Numbers and clusters that the tests share."""

from __future__ import annotations

import numpy as np
import pytest
from clusters import processes


@pytest.fixture
def rng() -> np.random.Generator:
    """Numbers that are the same in every run."""
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def client():
    """Two processes of one thread each, which calls find by themselves."""
    with processes(2) as client, client.as_current():
        yield client
