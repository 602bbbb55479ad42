"""Static check of voting modules: which imports and names they may use, so that they cannot look up the derivations.

Tests check the modules that ship with the project; those of outside documents are checked whenever they are loaded.  This
is a list of allowed imports and forbidden names, not a sandbox: at run time `bridge.closed` blocks the derivations.
"""

import ast
from collections.abc import Iterator
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES
from pathlib import Path

from derivations.records.documents import DOCUMENTS

VOTING = tuple(f"evidence.{document}" for document in DOCUMENTS)
PACKAGES = (
    "__future__",
    "collections",
    "cvxpy",
    "dataclasses",
    "decimal",
    "enum",
    "entmax",
    "fractions",
    "functools",
    "hypothesis",
    "itertools",
    "math",
    "mpmath",
    "numerics",
    "numpy",
    "ot",
    "pytest",
    "random",
    "scipy",
    "sklearn",
    "statistics",
    "torch",
    "typing",
    "warnings",
)
HELPERS = ("evidence.instances", "evidence.transport.listings")
OWN = {
    "derivations.records.claims": {"Layer"},
    "evidence": {"Layer", "Reading", "Sampled", "Value", "choose", "confirms", "float64"},
}
"""What a voting module may import: packages independent of the derivations, helpers and other voting modules (which are
checked by the same list), and a few names."""

OBSERVING = ("evidence.dtypes", "evidence.models", "evidence.source")
OBSERVERS = {"evidence": {"Finding", "Observed", "Outcome", "Run", "finding", "hold", "observes"}}
"""What modules that ship with the project may import in addition, for observations without random instances."""

NAMES = frozenset(
    (
        "builtins",
        "ctypes",
        "delattr",
        "derivations",
        "eval",
        "exec",
        "gc",
        "get_type_hints",
        "getattr",
        "globals",
        "import_module",
        "importlib",
        "importorskip",
        "inspect",
        "io",
        "load",
        "locals",
        "open",
        "os",
        "pickle",
        "setattr",
        "subprocess",
        "sympy",
        "sys",
        "vars",
    )
)
SPECIAL = frozenset(("__init__", "__name__", "__post_init__"))
"""`NAMES` may not occur as a variable or an attribute, not even of an allowed package, some of which import these modules;
`SPECIAL` lists the only names with two underscores that may."""


class LookUpError(ValueError):
    """A voting module could look up the derivations; the message names the module and the import or name at fault."""


def may_import(module: str, name: str | None, own: tuple[str, ...] = VOTING) -> bool:
    """Return whether a voting module may import a module, or a name from it; `own` lists the packages of voting modules.

    Test modules may not be imported, since this list does not apply to them.
    """
    if any(part.startswith("test_") for part in (*module.split("."), name or "")):
        return False
    shipped = own == VOTING
    if module in OWN:
        return name in OWN[module] or (shipped and name in OBSERVERS.get(module, ()))
    inner = (*HELPERS, *own, *(OBSERVING if shipped else ())) if name else ()
    return name != "*" and any(module == known or module.startswith(f"{known}.") for known in (*PACKAGES, *inner))


def may_name(name: str) -> bool:
    """Return whether a voting module may use a name, as a variable or as an attribute."""
    return name not in NAMES and (name in SPECIAL or not (name.startswith("__") and name.endswith("__")))


def looks_up(source: str, package: str = VOTING[0], own: tuple[str, ...] = VOTING) -> list[str]:
    """Yield every import and name in a module that could give it access to the derivations."""
    return [lookup for node in ast.walk(ast.parse(source)) for lookup in _of_node(node, package, own)]


def _of_node(node: ast.AST, package: str, own: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if not may_import(alias.name, None, own))
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: 1 - node.level or None] if node.level else []
        module = ".".join([*above, *filter(None, [node.module])])
        yield from (
            f"{module}.{alias.name}"
            for alias in node.names
            if not (may_import(module, alias.name, own) and may_name(alias.name))
        )
    elif isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if not may_name(name):
            yield name


def admit_sources(package: str, folder: Path) -> None:
    """Check every module in the folder of a package of votes; raises LookUpError if one could look up the derivations."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (*BYTECODE_SUFFIXES, *EXTENSION_SUFFIXES) and path.parent.name != "__pycache__":
            raise LookUpError(f"{package}: {path.name}: expected modules whose source can be read, got one that is compiled")
    for path in sorted(path for path in folder.rglob("*.py") if not path.name.startswith("test_")):
        *inner, last = path.relative_to(folder).with_suffix("").parts
        holder = ".".join((package, *inner))
        if lookups := looks_up(path.read_text(encoding="utf-8"), holder, (*VOTING, package)):
            name = holder if last == "__init__" else f"{holder}.{last}"
            raise LookUpError(
                f"{name}: expected imports of {', '.join(PACKAGES)}, of modules of {package} and of "
                f"{', '.join(sorted(OWN['evidence']))} from evidence, and no way around them, got "
                f"{', '.join(dict.fromkeys(lookups))}"
            )
