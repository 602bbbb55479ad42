"""Modules of votes whose sources lead to the formulas that they are held against."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

import tests.properties
from derivations import documents
from derivations.calculus.variables import scalar
from derivations.claims import Layer
from tests import bridge, layers
from evidence.harness import CASES

x = scalar("x")
VOTE = '''"""Votes on a paper."""

from hypothesis import strategies as st

from derivations.claims import Layer
from evidence.harness import Reading, confirms, float64

@confirms(Layer.TORCH, "paper.1", on=st.floats(0.5, 2))
def looked_up(x: float) -> Reading:
    return Reading({"x": x}, {"own": float64(x)}, 1e-9)

'''
LOOK_UPS = {
    "the bridge": ("from evidence.bridge import evaluate", "evidence.bridge.evaluate"),
    "the catalogue": ("from derivations.catalogue import entries", "derivations.catalogue.entries"),
    "the layers, with all that they import": ("from tests import layers", "evidence.harness"),
    "SymPy": ("import sympy as sp", "sympy"),
    "the document itself": ("from paper.section1 import root", "paper.section1.root"),
    "the document itself, from within": ("from ..section1 import root", "paper.section1.root"),
    "a test": ("from tests.properties.test_claims import entries", "tests.properties.test_claims.entries"),
    "in a function": ("def late():\n    from evidence.bridge import evaluate", "evidence.bridge.evaluate"),
    "__import__": ("bridge = __import__('evidence.bridge')", "__import__"),
    "__import__ by another name": ("find = __import__", "__import__"),
    "eval": ("bridge = eval('__imp' + 'ort__(\"evidence.bridge\")')", "eval"),
    "exec": ("exec('import sympy')", "exec"),
    "importlib": ("import importlib", "importlib"),
    "import_module": ("from importlib import import_module as find", "importlib.import_module"),
    "sys.modules": ("import sys\nbridge = sys.modules['evidence.bridge']", "sys"),
    "sys.modules, from a package": ("import dataclasses\nbridge = dataclasses.sys.modules['evidence.bridge']", "sys"),
    "sys.modules, imported from a package": ("from dataclasses import sys as s", "dataclasses.sys"),
    "a file": ("answers = open('answers').read()", "open"),
    "a file of numbers": ("import numpy as np\nanswers = np.load('answers.npy')", "load"),
    "the builtins": ("look = __builtins__['ev' + 'al']", "__builtins__"),
    "the globals of what is accepted": ("poll = confirms.__globals__['poll']", "__globals__"),
    "a name in parts": ("look = getattr(confirms, '__glob' + 'als__')", "getattr"),
    "pytest's import": ("import pytest\nsp = pytest.importorskip('sympy')", "importorskip"),
}


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of votes of a document of one's own; what it registers is forgotten."""
    folder = tmp_path / "paper" / "checks"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text('"""A paper."""\n')
    (folder / "__init__.py").write_text('"""Votes."""\n')
    (folder / "votes.py").write_text(VOTE)
    layers.parameters(Layer.TORCH, tests.properties)
    monkeypatch.setitem(CASES, Layer.TORCH, dict(CASES[Layer.TORCH]))
    monkeypatch.setenv(documents.VARIABLE, str(folder.parent))
    documents.package("paper")
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "paper"]:
        del sys.modules[name]


def test_control_votes_of_an_outside_document(paper: Path) -> None:
    (paper / "helper.py").write_text("import torch\n")
    (paper / "other.py").write_text("from . import helper\nfrom .votes import looked_up\nfrom paper.checks.helper import torch")
    assert "paper.1" in [parameter.id for parameter in layers.parameters(Layer.TORCH, tests.properties)]


@pytest.mark.parametrize("name", LOOK_UPS)
def test_a_module_of_an_outside_document_may_not_look_up(name: str, paper: Path) -> None:
    lines, named = LOOK_UPS[name]
    (paper / "votes.py").write_text(VOTE + lines + "\n")
    with pytest.raises(ValueError, match=rf"^paper\.checks\.votes: expected imports of .*, got {re.escape(named)}$"):
        layers.parameters(Layer.TORCH, tests.properties)


@pytest.mark.parametrize("file", ["__init__.py", "helper.py", "inner/__init__.py", "inner/helper.py"])
def test_nor_may_another_module_of_its_package(file: str, paper: Path) -> None:
    (paper / "inner").mkdir()
    (paper / file).write_text("import sympy\n")
    with pytest.raises(ValueError, match=r"^paper\.checks.*: expected imports of .*, got sympy$"):
        layers.parameters(Layer.TORCH, tests.properties)


def test_nor_may_a_module_without_a_source(paper: Path) -> None:
    (paper / "helper.pyc").write_bytes(b"")
    with pytest.raises(ValueError, match=r"^paper\.checks: helper\.pyc: expected modules whose source can be read"):
        layers.parameters(Layer.TORCH, tests.properties)


def test_the_answer_is_not_looked_up_at_import(paper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way to it is left where a vote may go."""
    monkeypatch.setattr(torch, "answer", lambda: bridge.evaluate(x, {"x": 2.0}, []), raising=False)
    (paper / "votes.py").write_text(VOTE + "import torch\nANSWER = torch.answer()\n")
    with pytest.raises(RuntimeError, match="expected routes of its own"):
        layers.parameters(Layer.TORCH, tests.properties)


def test_nor_by_the_modules_of_a_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "voters"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "votes.py").write_text("from tests import bridge\nANSWER = bridge.compiled(bridge.sp.pi)\n")
    monkeypatch.syspath_prepend(tmp_path)
    package = ModuleType("voters")
    package.__path__ = [str(folder)]
    with pytest.raises(RuntimeError, match="expected routes of its own"):
        layers.parameters(Layer.TORCH, package)
    del sys.modules["voters"]
