"""Modules of documents and cells of notebooks keep a division by what may be 0; other code has SymPy's operators."""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from derivations import authored
from derivations.authored import Loader, Operators, guard_cells
from derivations.calculus.functions import reciprocal
from derivations.calculus.variables import scalar
from derivations.documents import eot
from derivations.records.documents import VARIABLE, package

x, w = scalar("x"), scalar("w")


def run(source: str, **names: Any) -> dict[str, Any]:
    """The names that a module with this source defines."""
    exec(compile(Operators().visit(ast.parse(source)), "section1.py", "exec"), names)
    return names


KEPT = {
    "a quotient": "y = x / x",
    "a product": "y = x * (1 / x)",
    "a product from the right": "y = (1 / x) * x",
    "a power": "y = (1 / x) ** -1",
    "of sums": "y = (x - w) / (x - w)",
    "within a call": "y = sum([x / x, w])",
    "in a function": "def f(a):\n    return w * a / a\ny = f(x)",
    "in a lambda": "y = (lambda a: a / a)(x)",
    "in a generator": "y = list(x / each for each in [x])[0]",
    "as a default": "def f(a=x / x):\n    return a\ny = f()",
    "in a class": "class A:\n    y = x\n    y /= x\ny = A.y",
    "assigned to a name": "y = x\ny /= x",
    "assigned to a name as a product": "y = x\ny *= 1 / x",
    "assigned to a name as a power": "y = 1 / x\ny **= -1",
    "assigned to an entry": "ys = [w, x]\nys[-1] /= x\ny = ys[1]",
    "assigned to an attribute": "box.y = x\nbox.y /= x\ny = box.y",
    "in an f-string": "found = []\nf'{found.append(x / x)}'\ny = found[0]",
    "after a docstring and a future": '"""Section 1."""\nfrom __future__ import annotations\ny = x / x',
}


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT)
def test_an_authors_operators_keep_divisors(source: str) -> None:
    assert run(source, x=x, w=w, box=SimpleNamespace())["y"].has(reciprocal)


@pytest.mark.parametrize("written", ["total(l, r[l] / r[l])", "total(l, 1 / (1 / r[l])) * m"])
def test_what_has_no_value_everywhere_is_not_proved(written: str) -> None:
    names = run(
        "from derivations.vocabulary import *\nm = size('m')\nl = index('l', m)\nr = simplex('r', m)\n"
        f"def derivation():\n    yield Equation({written}, m)\n"
    )
    (relation,) = names["derivation"]()
    assert not relation.prove()
    assert relation.ill_posed()


def test_the_module_is_what_its_author_wrote_in_all_else() -> None:
    source = (
        '"""Section 1."""\nfrom __future__ import annotations\nn = 2 * 3 + 7 // 2 - 5 % 3\nt = "ab" * 2\ndef f(y: 1 / 0): ...\n'
    )
    names = run(source)
    assert (names["__doc__"], names["n"], names["t"]) == ("Section 1.", 7, "abab")
    assert names["f"].__code__.co_firstlineno == 5
    assert [name for name in names if name.startswith("@")] == [authored.DIVISION]


def test_parts_of_a_target_are_evaluated_once_and_in_order() -> None:
    names = run(
        "seen = []\n"
        "def see(value):\n    seen.append(value)\n    return value\n"
        "items = [1, 2, 3]\n"
        "see(items)[see(slice(0, 2))] *= see(2)\n"
        "see(items)[see(0):see(1)] *= see(3)\n"
    )
    assert names["items"] == [1, 1, 1, 2, 1, 2, 3]
    assert names["seen"][1:] == [slice(0, 2), 2, names["items"], 0, 1, 3]
    assert authored.OWNER not in names


def test_what_is_changed_in_place_stays_one_object() -> None:
    names = run("items = other = [1]\nitems *= 2\nowner.items *= 2", owner=SimpleNamespace(items=[3]))
    assert names["other"] == [1, 1]
    assert names["owner"].items == [3, 3]


def test_errors_have_the_line_of_the_author() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("a = 0\n\nb = (1 /\n     a)\n")
    assert caught.traceback[-2].lineno + 1 == 3


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "herring"
    (folder / "checks").mkdir(parents=True)
    (folder / "__init__.py").write_text('"""On fish."""\nfrom derivations import scalar\nx = scalar("x")\ny = x / x\n')
    (folder / "section1.py").write_text("from herring import x\ny = x / x\n")
    (folder / "checks" / "__init__.py").write_text("from herring import x\ny = x / x\n")
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(folder)]))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "herring"]:
        del sys.modules[name]
    authored.FINDER.packages.discard("herring")


def test_modules_of_a_document_are_authored_and_its_votes_are_not(paper: Path) -> None:
    import importlib

    assert package("herring").y.has(reciprocal)
    assert importlib.import_module("herring.section1").y.has(reciprocal)
    assert importlib.import_module("herring.checks").y == 1


def test_every_module_of_our_documents_is_authored() -> None:
    spec = authored.FINDER.find_spec("derivations.documents.eot.section3_theorem", eot.__path__)
    assert spec is not None
    assert isinstance(spec.loader, Loader)
    assert authored.FINDER.find_spec("derivations.documents", None) is None
    assert authored.FINDER.find_spec("sympy.core", None) is None
    assert authored.FINDER.find_spec("derivations.documents.eot.section0", list(package("eot").__path__)) is None


def test_bytecode_is_kept_apart_from_that_of_other_loaders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (source := tmp_path / "section1.py").write_text("y = x / x\n")
    loader = Loader("section1", str(source))
    for _ in range(2):  # compiled, and read
        exec(loader.get_code("section1"), names := {"x": x})
        assert names["y"].has(reciprocal)
    (cached,) = tmp_path.rglob("*.pyc")
    assert cached.name.endswith(authored.CACHED)
    source.write_text("y = x / x + w\n")
    exec(loader.get_code("section1"), names := {"x": x, "w": w})
    assert names["y"].has(w)


def test_cells_of_a_notebook_are_authored_from_the_next_one_on() -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    try:
        guard_cells()
        guard_cells()
        assert sum(isinstance(each, Operators) for each in shell.ast_transformers) == 1
        shell.push({"x": x})
        assert shell.run_cell("y = x / x\ny").result.has(reciprocal)
        assert shell.run_cell("n = 7\nn /= 2\nn").result == 3.5
    finally:
        type(shell).clear_instance()


def test_outside_of_a_notebook_nothing_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    guard_cells()
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    guard_cells()
