"""The imports and names that are allowed in a module of votes."""

from pathlib import Path

import pytest

from evidence.lookups import VOTING, LookUpError, admit_sources, looks_up, may_import, may_name

OWN = (*VOTING, "paper.checks")


@pytest.mark.parametrize(
    ("module", "name", "shipped", "paper"),
    [
        ("numpy", None, True, True),
        ("numpy.linalg", "norm", True, True),
        ("numpydoc", None, False, False),
        ("numpy", "*", False, False),
        ("torch", "test_cases", False, False),
        ("torch.test_cases", None, False, False),
        ("evidence", "Layer", True, True),
        ("evidence", "Finding", True, False),
        ("evidence", "harness", False, False),
        ("derivations.records.claims", "Layer", True, True),
        ("derivations.records.claims", "Outcome", False, False),
        ("evidence.models", "encoders", True, False),
        ("evidence.models.encoders", "load", True, False),
        ("evidence.models", None, False, False),
        ("evidence.instances.one_sided", "rows", True, True),
        ("evidence.eot.section5_gradient", "scores", True, True),
        ("paper.checks.helper", "scores", False, True),
        ("paper.checks", "helper", False, True),
        ("paper.checks.helper", None, False, False),
        ("sympy", None, False, False),
    ],
)
def test_allowed_imports(module: str, name: str | None, shipped: bool, paper: bool) -> None:
    assert may_import(module, name) is shipped
    assert may_import(module, name, OWN) is paper


@pytest.mark.parametrize(
    ("name", "may"),
    [
        ("scores", True),
        ("__init__", True),
        ("__post_init__", True),
        ("__globals__", False),
        ("__mine", True),
        ("its__", True),
        ("eval", False),
        ("load", False),
    ],
)
def test_allowed_names(name: str, may: bool) -> None:
    assert may_name(name) is may


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("import numpy, sympy, sys", ["sympy", "sys"]),
        ("from . import section1", []),
        ("from .. import bridge", ["evidence.bridge"]),
        ("from ..bridge import evaluate", ["evidence.bridge.evaluate"]),
        ("from .section1 import eval", ["evidence.eot.section1.eval"]),
        ("from ...derivations import claim", ["derivations.claim"]),
        ("from torch import nn, load", ["torch.load"]),
        ("x = eval(y.__globals__)", ["eval", "__globals__"]),
        ("x = y.scores(z)", []),
    ],
)
def test_lookups_are_reported(line: str, names: list[str]) -> None:
    assert sorted(looks_up(line, "evidence.eot")) == sorted(names)


def test_sources_of_a_package_are_admitted_by_name(tmp_path: Path) -> None:
    (tmp_path / "inner" / "__pycache__").mkdir(parents=True)
    (tmp_path / "inner" / "__pycache__" / "votes.cpython-311.pyc").write_bytes(b"")
    (tmp_path / "test_votes.py").write_text("import sympy\n")
    (tmp_path / "inner" / "votes.py").write_text("from ..helper import scores\nfrom paper.checks import helper\n")
    admit_sources("paper.checks", tmp_path)
    (tmp_path / "inner" / "votes.py").write_text("from ...section1 import claim\n")
    with pytest.raises(LookUpError, match=r"^paper\.checks\.inner\.votes: .* got paper\.section1\.claim$"):
        admit_sources("paper.checks", tmp_path)
    (tmp_path / "inner" / "votes.py").unlink()
    (tmp_path / "inner" / "__init__.py").write_text("import sympy, sympy\n")
    with pytest.raises(LookUpError, match=r"^paper\.checks\.inner: .* got sympy$"):
        admit_sources("paper.checks", tmp_path)
    (tmp_path / "inner" / "votes.so").write_bytes(b"")
    with pytest.raises(LookUpError, match=r"^paper\.checks: votes\.so: expected modules whose source can be read"):
        admit_sources("paper.checks", tmp_path)
