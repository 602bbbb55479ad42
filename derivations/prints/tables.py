"""The meanings of a document's printed symbols: its module `print_notation`, one line per symbol, as `new` writes it.

    SYMBOLS = {"m": "size", "j, k": "index m", r"\\tau": "positive as tau", "s": "vector m", r"p_j": r"= e^{s_j/\\tau}/Z"}
    CHAPTERS = {"section4_entmax": {r"\\alpha": "= a + 1", "a": "positive"}}
    CLAIMS = {"eot.18": {r"p^\\star": r"= \\arg\\min_{p \\in \\Delta^{m-1}} J(p)"}}
    INSTANCES = {"eot.3": {"p_j": "= 1/m"}}

A chapter or a claim can have its own meanings for some symbols; None removes one.  `as tau` gives the name of the variable in
the derivations.  If a derivation shows only an instance of a definition, the print must be the table's definition, and agree
with the derivation at the instance.  Definitions are written from the document's text, never from the relation that they are
compared with.
"""

import importlib.util
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType, ModuleType

from derivations.reader.meaning.notation import Notation
from derivations.reader.syntax.names import pattern, plain, split
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import spelled
from derivations.records.documents import NOTATION, package

CALLED = " as "

Lines = Mapping[str, str | None]


@cache
def table(document: str) -> ModuleType | None:
    """Return the module with the meanings of a document's symbols, if there is one."""
    name = f"{package(document).__name__}.{NOTATION}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def notation(document: str, chapter: str, id: str) -> Notation | None:
    """Return the meanings of the symbols in a claim; None if its document has no table."""
    module = table(document)
    if module is None:
        return None
    return _notation(document, chapter, id if id in module.CLAIMS or id in module.INSTANCES else "", instance=True)


def general(document: str, chapter: str, id: str) -> Notation | None:
    """Return the meanings of the symbols in a definition whose derivation shows only an instance; None otherwise."""
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
                    raise ValueError(f"{symbol} in {id or chapter}: {name} is declared twice")
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
    """Return the name under which a symbol is declared, without indices and arguments."""
    return pattern(symbol).name if meaning.startswith("=") or "(" in symbol else spelled(parse(symbol))


def known_names(notation: Notation) -> frozenset[str]:
    """Return the derivations' names for symbols of a table: a variable with such a name is that symbol."""
    printed = (plain(name) for name in (*notation.meanings, *notation.indices) if name not in notation.names)
    return frozenset((*notation.taken, *notation.names.values(), *printed))
