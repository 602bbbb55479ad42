"""The words of an author: loaded when they are used, and the same in every chapter."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import derivations
from derivations import vocabulary
from derivations.records.documents import DOCUMENTS, package

WORDS = {name for name in vars(vocabulary) if not name.startswith("_")}


def test_the_package_has_every_word() -> None:
    assert {*WORDS, "equation"} <= {*dir(derivations)}
    assert all(getattr(derivations, word) is getattr(vocabulary, word) for word in WORDS)
    assert derivations.equation.__module__ == "derivations.papers.claims"


@pytest.mark.parametrize("name", ["no_word", "__wrapped__"])
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'derivations' has no attribute '{name}'"):
        getattr(derivations, name)


def test_nothing_is_loaded_before_the_first_word() -> None:
    loaded = "print('sympy' in sys.modules)"
    code = f"import sys, derivations; {loaded}; from derivations import total; {loaded}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


def given_another_meaning(source: str) -> Iterator[str]:
    """The words that a chapter defines, or imports from elsewhere."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names = [statement.name]
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name for alias in statement.names]
        else:
            names = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        yield from WORDS.intersection(names)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_word_means_the_same_in_every_chapter(document: str) -> None:
    for path in Path(package(document).__path__[0]).glob("*.py"):
        assert list(given_another_meaning(path.read_text(encoding="utf-8"))) == [], path.name


@pytest.mark.parametrize("line", ["def total(): ...", "from other import delta as total", "total = 1", "for total in (): ..."])
def test_another_meaning_is_found(line: str) -> None:
    assert list(given_another_meaning(line)) == ["total"]
