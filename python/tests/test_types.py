"""What a type checker knows of the package: each function that the package has, and its class."""

from __future__ import annotations

import ast
from pathlib import Path

import sparsec


def test_names_are_written_out() -> None:
    """Type checkers take the names of `__all__` only if they are strings, one by one."""
    for path in Path(str(sparsec.__file__)).parent.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                assert isinstance(node.value, ast.List)
                assert all(isinstance(item, ast.Constant) for item in node.value.elts), path


def test_stubs_name_what_the_compiled_part_has() -> None:
    stubs = Path(str(sparsec.__file__)).with_name("_sparsec.pyi")
    if not stubs.exists():
        stubs = Path(__file__).parents[1] / "sparsec" / "_sparsec.pyi"
    tree = ast.parse(stubs.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)

    def names(body: list[ast.stmt]) -> set[str]:
        return {node.name for node in body if isinstance(node, kinds) and not node.name.startswith("__")}

    compiled = sparsec._sparsec
    assert names(tree.body) == {name for name in dir(compiled) if not name.startswith("_")}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {name for name in dir(getattr(compiled, node.name)) if not name.startswith("_")}
            assert names(node.body) == members, node.name
