"""The claims of a document that ships with the project, read from the text of its chapters without importing them.

A chapter writes out the ids of its claims and, in `part_of` and `title`, what `list` and the choice of chapters need.  When a
chapter is imported, `catalogue` refuses it if it registers anything else.
"""

import ast
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from derivations.records.documents import DOCUMENTS, package
from derivations.register.loading import LoadingError, printed_place

DECORATOR, FUNCTION = "claim", "reprint"


class Registration(NamedTuple):
    """One registered claim; `original` is the full name of the entry of which a reprint takes over what it leaves out."""

    id: str
    module: str
    line: int
    name: str
    title: str | None
    part_of: str | None
    original: str | None


@cache
def registered(document: str) -> Mapping[str, Registration]:
    """Return the claims of a document by id, in printed order; none for a document that does not ship with the project.

    Raises LoadingError for an id that is registered twice or that is not of the document, and for text that is not Python.
    """
    if document not in DOCUMENTS:
        return {}
    found: dict[str, Registration] = {}
    home = package(document)
    for name in sorted((info.name for info in pkgutil.iter_modules(home.__path__)), key=printed_place):
        for each in _registrations(f"{home.__name__}.{name}", Path(home.__path__[0], f"{name}.py")):
            if each.id in found:
                raise LoadingError(f"claim: duplicate id {each.id}, which {found[each.id].module} registers, too")
            if each.id.partition(".")[0] != document:
                raise LoadingError(f"claim: expected ids like {document}.1 in {each.module}, got {each.id}")
            found[each.id] = each
    return found


def registration(id: str) -> Registration | None:
    """Return what the chapters of our documents say about an id; None if none of them registers it."""
    return registered(id.partition(".")[0]).get(id)


def title(id: str) -> str:
    """Return the title of a claim of our documents, for a reprint without one that of its original."""
    known = registration(id)
    while known is not None and known.title is None:
        known = _by_name(known.original or "")
    return known.title or "" if known else ""


def _by_name(name: str) -> Registration | None:
    """Return the claim whose entry has this full name, derivations.documents.<document>.<chapter>.<name>."""
    document = "".join(name.split(".")[2:3])
    return next((each for each in registered(document).values() if each.name == name), None)


def _registrations(module: str, path: Path) -> Iterator[Registration]:
    """Yield the claims that the text of a module registers at its top, in the order of its lines."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise LoadingError(f"SyntaxError: {error.msg} ({path}:{error.lineno})") from None
    imported = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[ast.Call() as call, *_]) if _called(call) == DECORATOR:
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _called(call) == FUNCTION:
                pass
            case ast.Expr(value=ast.Call() as call) if _called(call) == FUNCTION:
                name = ""
            case _:
                continue
        texts = {each.arg: _text(each.value) for each in call.keywords}
        id = _text(call.args[0]) if call.args else texts.get("id")
        of = call.args[1:2] or [each.value for each in call.keywords if each.arg == "of"]
        original = _full_name(of[0], module, imported) if of and _called(call) == FUNCTION else None
        if id:
            own = f"{module}.{name}"
            yield Registration(id, module, call.lineno, own, texts.get("title"), texts.get("part_of"), original)


def _full_name(node: ast.expr, module: str, imported: Mapping[str, str]) -> str:
    """Return the full name of what an expression such as `jacobian` or `section5.jacobian` stands for in a module."""
    head, dot, tail = ast.unparse(node).partition(".")
    return imported.get(head, f"{module}.{head}") + dot + tail


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
