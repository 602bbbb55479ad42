"""What the printed symbols of a document stand for: its module `print_notation`, one line a symbol, as `new` writes it.

    SYMBOLS = {"m": "size", "j, k": "index m", r"\\tau": "positive as tau", "s": "vector m", r"p_j": r"= e^{s_j/\\tau}/Z"}
    CHAPTERS = {"section4_entmax": {r"\\alpha": "= a + 1", "a": "positive"}}
    CLAIMS = {"eot.18": {r"p^\\star": r"= \\arg\\min_{p \\in \\Delta^{m-1}} J(p)"}}
    INSTANCES = {"eot.3": {"p_j": "= 1/m"}}

A chapter has its own meaning for some symbols, and so has a claim; None takes one away.  `as tau` is the name that the
derivations have for a variable.  Of a definition a derivation may show an instance only: the print then has to be the
definition of the table, and at the instance what is derived.  A definition is written from the document's own text, never from
the relation that it is to be held against.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType, ModuleType

from derivations.documents import package
from derivations.latex.names import pattern, plain, split
from derivations.latex.notation import Notation
from derivations.latex.syntax import parse
from derivations.latex.tree import spelled

MODULE = "print_notation"
CALLED = " as "

Lines = Mapping[str, str | None]


@cache
def table(document: str) -> ModuleType | None:
    """The module that says what a document's symbols stand for, if it has one."""
    name = f"{package(document).__name__}.{MODULE}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def notation(document: str, chapter: str, id: str) -> Notation | None:
    """The meaning of the symbols in a claim; None where its document has no table."""
    module = table(document)
    if module is None:
        return None
    return _notation(document, chapter, id if id in module.CLAIMS or id in module.INSTANCES else "", instance=True)


def general(document: str, chapter: str, id: str) -> Notation | None:
    """The meaning of the symbols in a definition of which a derivation shows an instance; None where it shows no instance."""
    module = table(document)
    return _notation(document, chapter, id, instance=False) if module is not None and id in module.INSTANCES else None


@cache
def _notation(document: str, chapter: str, id: str, *, instance: bool) -> Notation:
    module = table(document)
    assert module is not None
    lines: dict[str, tuple[str, str]] = {}
    own = module.INSTANCES.get(id, {}) if instance else {}
    for part in (module.SYMBOLS, module.CHAPTERS.get(chapter, {}), module.CLAIMS.get(id, {}), own):
        own_names: set[str] = set()
        for symbol, meaning in _single(part).items():
            lines.pop(name := _name(symbol, meaning or ""), None)
            if meaning is not None:
                lines[name] = symbol, meaning
                if name in own_names:
                    raise ValueError(f"{symbol} in {id or chapter}: expected one meaning of {name}, got a second one")
                own_names.add(name)
    names, declarations = {}, {}
    for name, (symbol, meaning) in lines.items():
        declaration, _, called = meaning.partition(CALLED)
        declarations[symbol] = declaration
        if called:
            names[name] = called
    return Notation(MappingProxyType(declarations), names)


def _single(lines: Lines) -> dict[str, str | None]:
    return {symbol: meaning for symbols, meaning in lines.items() for symbol in split(symbols)}


def _name(symbol: str, meaning: str) -> str:
    """The name under which a symbol is declared, without the indices and arguments of a definition."""
    return pattern(symbol).name if meaning.startswith("=") or "(" in symbol else spelled(parse(symbol))


def known_names(notation: Notation) -> frozenset[str]:
    """The names that the derivations have for symbols of a table: such a variable stands for that symbol and no other."""
    printed = (plain(name) for name in (*notation.meanings, *notation.indices) if name not in notation.names)
    return frozenset((*notation.taken, *notation.names.values(), *printed))
