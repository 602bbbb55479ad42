"""The exit rule: an undecided statement passes only if a numeric layer confirms it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.processes import derivations

SECTION = '''"""Section 1: squares under a root."""

import sympy as sp

from derivations.calculus.variables import scalar
from derivations.register.claiming import Steps, claim
from derivations.relations import AtLeast, Equation

x = scalar("x")
root = sp.sqrt(x**4 + 2 * x**2 + 1)


def stated(id, relation):
    @claim(id, "identity", title="A root", latex="x")
    def root_of_a_square() -> Steps:
        """The root of a square."""
        yield relation

    root_of_a_square.twin("the sign", lambda: Equation(root, x**2 - 1))
    root_of_a_square.twin("one more", lambda: Equation(root, x**2 + 2))


stated("paper.1", Equation(root, x**2 + 1))
stated("paper.2", Equation(root, x**2 + 1))
stated("paper.3", Equation(root, x**2 + 1, given=(AtLeast(x, 1), AtLeast(-x, 0))))
stated("paper.4", Equation(root / x, x + 1 / x))
'''
VOTES = '''"""Votes by torch."""

import torch
from hypothesis import strategies as st

from derivations.records.claims import Layer
from evidence import Reading, confirms, float64


@confirms(Layer.TORCH, "paper.1", on=st.integers(-8, 8).map(lambda n: n / 4))
def rooted(x: float) -> Reading:
    return Reading({"x": x}, {"root": torch.sqrt(float64(x) ** 4 + 2 * float64(x) ** 2 + 1)}, 1e-12)
'''


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("confirmed")
    (folder / "paper" / "checks").mkdir(parents=True)
    (folder / "paper" / "__init__.py").write_text('"""A paper."""\n')
    (folder / "paper" / "section1.py").write_text(SECTION)
    (folder / "paper" / "checks" / "__init__.py").write_text('"""Votes."""\n')
    (folder / "paper" / "checks" / "votes.py").write_text(VOTES)
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return derivations(folder, "--document", str(folder / "paper"), *arguments, CI="")


def test_confirmed_passes_before_there_is_a_baseline_and_after(paper: Path) -> None:
    first = run(paper, "verify", "paper.1", "-n", "0")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "paper: 1 claims: 1 confirmed" in first.stdout
    (row,) = json.loads((paper / "ledger.json").read_text())["claims"]
    assert row["verdict"] == "confirmed"
    assert "not proved: not decided: " in row["scope"]
    assert run(paper, "regress", "--accept").returncode == 0
    again = run(paper, "verify", "paper.1", "-n", "0", "--incremental")
    assert again.returncode == 0, again.stdout + again.stderr


def test_open_statements_fail(paper: Path) -> None:
    result = run(paper, "verify", "paper.2", "paper.3", "paper.4", "-n", "0", "--json", "other.json")
    assert result.returncode == 1, result.stdout + result.stderr
    failed = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
    for id, why in (("paper.2", "not decided"), ("paper.3", "no sample point"), ("paper.4", "it is not shown that")):
        assert any(id in line and why in line for line in failed), result.stdout
