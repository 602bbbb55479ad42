"""Import the modules of documents with `*`, `/` and `**` that keep a division by what may be 0.

SymPy is not changed.  A module of a document is compiled with each of these operators replaced by a call of `product`,
`quotient` or `power` (`derivations.calculus.division`); so are the cells of a notebook after the one that imports
`derivations`.  Where an operator is called by other code, such as `math.prod` or a script, it is SymPy's own: write
`quotient(x, y)` there.
"""

import ast
import sys
from collections.abc import Sequence
from copy import copy
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import source_hash
from pathlib import Path
from types import ModuleType
from typing import Any

FUNCTIONS = {ast.Mult: ("product", "imul"), ast.Div: ("quotient", "itruediv"), ast.Pow: ("power", "ipow")}
DIVISION, OWNER, KEY = "@division", "@owner", "@key"  # which an author cannot spell
MODULE = "derivations.calculus.division"
CACHED = f".authored-{source_hash(Path(__file__).read_bytes()).hex()}.pyc"  # beside Python's own, and of this version


class Operators(ast.NodeTransformer):
    """Replaces `*`, `/` and `**`, also in assignments such as `x /= y`, in a module or a notebook's cell."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Replace the operators, and import the functions that stand for them after the docstring."""
        self.generic_visit(node)
        start = 0
        while start < len(node.body) and _comes_first(node.body[start], start):
            start += 1
        node.body.insert(start, ast.Import([ast.alias(MODULE, DIVISION)]))
        return ast.fix_missing_locations(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Replace an operator between two operands, unless both are literals."""
        self.generic_visit(node)
        if type(node.op) not in FUNCTIONS or (isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)):
            return node
        function, _ = FUNCTIONS[type(node.op)]
        return ast.copy_location(_call(function, node.left, node.right), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt] | ast.stmt:
        """Replace an operator that assigns; the parts of its target are evaluated once and before the value, as in Python."""
        self.generic_visit(node)
        if type(node.op) not in FUNCTIONS:
            return node
        held: dict[str, ast.expr] = {}
        target: Any = copy(node.target)
        if isinstance(target, ast.Attribute | ast.Subscript):
            held[OWNER], target.value = target.value, _name(OWNER)
        if isinstance(target, ast.Subscript):
            held[KEY], target.slice = ast.Subscript(_of_division("KEYS"), target.slice, ast.Load()), _name(KEY)
        current = copy(target)
        current.ctx = ast.Load()
        function, operator = FUNCTIONS[type(node.op)]
        statements: list[ast.stmt] = [
            *(ast.Assign([ast.Name(name, ast.Store())], value) for name, value in held.items()),
            ast.Assign([target], _call(function, current, node.value, _of_division(operator))),
            *(ast.Delete([ast.Name(name, ast.Del())]) for name in held),
        ]
        return [ast.copy_location(each, node) for each in statements]


def _comes_first(statement: ast.stmt, position: int) -> bool:
    """Whether a statement has to precede every import: the docstring, or one from `__future__`."""
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and position == 0
    return docstring or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _of_division(name: str) -> ast.expr:
    return ast.Attribute(_name(DIVISION), name, ast.Load())


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_of_division(function), [*arguments], [])


class Loader(SourceFileLoader):
    """Loads a module with the replaced operators; its bytecode is kept apart from that of other loaders."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        """Compile the source of a module."""
        tree = Operators().visit(compile(data, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_data(self, path: str) -> bytes:
        """Read a source, or the bytecode of this loader."""
        return super().get_data(_own(path))

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Write the bytecode of this loader."""
        super().set_data(_own(path), data, _mode=_mode)


def _own(path: str) -> str:
    return path.removesuffix(".pyc") + CACHED if path.endswith(".pyc") else path


class Finder(MetaPathFinder):
    """Finds the modules of the packages of authors."""

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the module's spec with our loader; None outside of these packages, and for votes, which state nothing."""
        if not any(
            name.startswith(f"{package}.") and not f"{name}.".startswith(f"{package}.checks.") for package in self.packages
        ):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


FINDER = Finder()


def guard_modules(package: str) -> None:
    """Import the modules of a package, from now on, with the replaced operators."""
    FINDER.packages.add(package)
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)


def guard_cells() -> None:
    """Compile the next cells of the notebook or the IPython session that runs here, if any, with the replaced operators."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and not any(isinstance(each, Operators) for each in shell.ast_transformers):
        shell.ast_transformers.append(Operators())
