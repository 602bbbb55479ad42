"""Vote modules whose sources reach the formulas that they are compared with."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import evidence.eot
from derivations.calculus.variables import scalar
from derivations.records import documents
from derivations.records.claims import Layer
from derivations.register.loading import imported
from evidence import bridge
from evidence.registry import CASES, load

x = scalar("x")
VOTE = '''"""Votes on a paper."""

from hypothesis import strategies as st

from evidence import Layer, Reading, confirms, float64

@confirms(Layer.TORCH, "paper.1", on=st.floats(0.5, 2))
def looked_up(x: float) -> Reading:
    return Reading({"x": x}, {"own": float64(x)}, 1e-9)

'''
LOOK_UPS = {
    "the bridge": ("from evidence.bridge import evaluate", "evidence.bridge.evaluate"),
    "the catalogue": ("from derivations.register.catalogue import entries", "derivations.register.catalogue.entries"),
    "the harness, with all that it imports": ("from evidence import harness", "evidence.harness"),
    "SymPy": ("import sympy as sp", "sympy"),
    "the document itself": ("from paper.section1 import root", "paper.section1.root"),
    "the document itself, from within": ("from ..section1 import root", "paper.section1.root"),
    "a test": ("from evidence.test_votes import entries", "evidence.test_votes.entries"),
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
    "the globals of what is accepted": ("compare_rounds = confirms.__globals__['compare_rounds']", "__globals__"),
    "a name in parts": ("look = getattr(confirms, '__glob' + 'als__')", "getattr"),
    "pytest's import": ("import pytest\nsp = pytest.importorskip('sympy')", "importorskip"),
}


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of votes of an outside document; its registrations are undone afterwards."""
    folder = tmp_path / "paper" / "checks"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text('"""A paper."""\n')
    (folder / "__init__.py").write_text('"""Votes."""\n')
    (folder / "votes.py").write_text(VOTE)
    load()
    monkeypatch.setitem(CASES, Layer.TORCH, dict(CASES[Layer.TORCH]))
    monkeypatch.setenv(documents.VARIABLE, str(folder.parent))
    documents.package("paper")
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "paper"]:
        del sys.modules[name]


def test_control_votes_of_an_outside_document(paper: Path) -> None:
    (paper / "helper.py").write_text("import torch\n")
    (paper / "other.py").write_text("from . import helper\nfrom .votes import looked_up\nfrom paper.checks.helper import torch")
    load()
    assert "paper.1" in CASES[Layer.TORCH]


@pytest.mark.parametrize("name", LOOK_UPS)
def test_a_module_of_an_outside_document_may_not_look_up(name: str, paper: Path) -> None:
    lines, named = LOOK_UPS[name]
    (paper / "votes.py").write_text(VOTE + lines + "\n")
    with pytest.raises(ValueError, match=rf"^paper\.checks\.votes: expected imports of .*, got {re.escape(named)}$"):
        load()


BESIDE = {
    "a check in a module of claims": (
        "def own(x):\n    return Reading({'x': x}, {'own': float64(x)}, 1e-9)\n\n"
        "confirms(Layer.TORCH, 'paper.1', on=st.floats(0.5, 2))(own)\n",
        r"^claim: expected a check of paper\.1 in a module of paper\.checks, got one in paper\.section1",
    ),
    "an observation that is only typed": (
        "from evidence import Finding, Outcome, observes\n\n"
        "observes(Layer.TORCH, 'paper.1')(lambda claim, run: Finding(Outcome.HOLDS, 'everywhere'))\n",
        r"^claim: expected a claim and a module that ship with the project, got paper\.1 in paper\.section1",
    ),
    "an observation of another document": (
        "from evidence import Finding, Outcome, observes\n\n"
        "observes(Layer.TORCH, 'eot.98', name='again')(lambda claim, run: Finding(Outcome.HOLDS, 'everywhere'))\n",
        r"^claim: expected a claim and a module that ship with the project, got eot\.98 in paper\.section1",
    ),
    "a check of another document": (
        "confirms(Layer.PRIMAL, 'eot.98', on=st.floats(0.5, 2))(float64)\n",
        r"^claim: expected a check of eot\.98 in a module of evidence\.eot, got one in evidence\.harness",
    ),
    "a check of its own for another document": (
        "def own(x):\n    return Reading({'x': x}, {'own': float64(x)}, 1e-9)\n\n"
        "confirms(Layer.PRIMAL, 'eot.98', on=st.floats(0.5, 2))(own)\n",
        r"^claim: expected a check of eot\.98 in a module of evidence\.eot, got one in paper\.section1",
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_module_whose_source_is_not_inspected_has_no_vote(name: str, paper: Path) -> None:
    lines, message = BESIDE[name]
    (paper.parent / "section1.py").write_text(VOTE.partition("@")[0] + lines)
    with pytest.raises(ValueError, match=message):
        imported("paper.section1")


@pytest.mark.parametrize("file", ["__init__.py", "helper.py", "inner/__init__.py", "inner/helper.py"])
def test_another_module_of_the_package_may_not_look_up(file: str, paper: Path) -> None:
    (paper / "inner").mkdir()
    (paper / file).write_text("import sympy\n")
    with pytest.raises(ValueError, match=r"^paper\.checks.*: expected imports of .*, got sympy$"):
        load()


def test_a_module_without_a_source_is_refused(paper: Path) -> None:
    (paper / "helper.pyc").write_bytes(b"")
    with pytest.raises(ValueError, match=r"^paper\.checks: helper\.pyc: expected modules whose source can be read"):
        load()


def test_the_answer_is_not_looked_up_at_import(paper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading of the answer is attempted at import."""
    monkeypatch.setattr(torch, "answer", lambda: bridge.evaluate(x, {"x": 2.0}, []), raising=False)
    (paper / "votes.py").write_text(VOTE + "import torch\nANSWER = torch.answer()\n")
    with pytest.raises(RuntimeError, match="expected routes of its own"):
        load()


def test_project_modules_do_not_look_up_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "section5_gradient.py").write_text("from evidence import bridge\nANSWER = bridge.compiled(bridge.sp.pi)\n")
    monkeypatch.delitem(sys.modules, "evidence.eot.section5_gradient", raising=False)
    monkeypatch.setattr(evidence.eot, "__path__", [str(tmp_path)])
    with pytest.raises(RuntimeError, match="expected routes of its own"):
        load(["eot.46"])
