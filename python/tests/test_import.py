"""What `import sparsec` loads beside NumPy: little, so that short programs begin soon."""

from __future__ import annotations

import subprocess
import sys

_LISTED = """
import sys, numpy
before = set(sys.modules)
import sparsec
print(*sorted(set(sys.modules) - before))
"""


def test_import_loads_no_module_for_few_programs():
    run = subprocess.run([sys.executable, "-c", _LISTED], check=True, capture_output=True, text=True)
    loaded = set(run.stdout.split())
    assert "sparsec._operators" in loaded
    rare = ("_blocks", "_planner", "_shards", "_folders", "_html", "_scipy", "dask", "torch", "bench")
    assert not loaded & {f"sparsec.{name}" for name in rare}
    assert not loaded & {"dask", "h5py", "scipy", "sparse", "torch"}
    assert not loaded & {"dataclasses", "inspect", "shutil", "uuid", "html"}
