"""The single edits of a Python source: operators, constants, comparisons, signs, axes, indices, clamps, deleted statements.

Left out, because it decides nothing: annotations and aliases of types, docstrings and other strings, decorators, ``__all__``,
imports, ``if TYPE_CHECKING``, whether a ``zip`` is strict (it is where lengths agree), and what is inside of a ``raise``, since
a test that quotes each message would be a copy of it.
"""

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import CodeType

Put = Callable[[ast.AST], None]

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
CLAMPS = {"clamp", "clamp_min", "clamp_max", "clip", "nan_to_num", "abs", "relu", "detach"}
"""Methods of which what they are called on is left."""
TRANSPOSED = {"mT", "T"}
OPPOSITES = {
    "min": "max",
    "amin": "amax",
    "argmin": "argmax",
    "minimum": "maximum",
    "any": "all",
    "floor": "ceil",
    "cummin": "cummax",
    "fmin": "fmax",
    "union": "intersection",
}
OPPOSITES |= {right: left for left, right in OPPOSITES.items()}
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Mutant:
    """One edit of a module.

    Attributes:
        module: its dotted name.
        scope: the outermost function or method around it, "" outside of functions.
        line: of the edit.
        statement: the line of the statement around it; that of the function for a default of its arguments.
        default: whether it is in a default of the function's arguments, the value of which is not in the function's code.
        lines: the first and last line of the function.
        sort: operator, comparison, constant, sign, axis, index, clamp, opposite, condition, transpose, statement.
        text: what stands there, and what is put there instead.
        key: a digest of the scope's code and the edit: another once either changes, whatever its format and its module.
        compiled: called with a file name; the module's code with the edit.
    """

    module: str
    scope: str
    line: int
    statement: int
    default: bool
    lines: tuple[int, int]
    sort: str
    text: str
    key: str
    compiled: Callable[[str], CodeType]

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.scope or 'module'}: {self.text}"


def mutants(module: str, source: str) -> list[Mutant]:
    """Every edit of a module's source, from the top."""
    tree = ast.parse(source)
    scopes: dict[str, ast.AST] = {}
    times: Counter[tuple[str, ...]] = Counter()
    result = []
    for node, scope, statement, default, sort, new, put in list(_inside(tree, "", 0)):
        if scope and scope not in scopes:
            scopes[scope] = _scope(tree, scope)
        around = scopes.get(scope, node)
        source_text = _text(around)
        line = getattr(node, "lineno", 0)
        text = f"{_shown(_text(node))} → {_shown(ast.unparse(new))}"
        first = getattr(around, "lineno", line)
        edit = (scope, source_text, sort, text)
        times[edit] += 1
        digest = hashlib.sha256("\0".join((*edit, str(times[edit]))).encode()).hexdigest()
        result.append(
            Mutant(
                module,
                scope,
                line,
                statement,
                default,
                (first, getattr(around, "end_lineno", line)),
                sort,
                text,
                digest[:12],
                partial(_compiled, tree, node, new, put),
            )
        )
    return result


def digest_of(all_mutants: Iterable[Mutant]) -> str:
    """A digest of a module's mutants: another once what they edit changes, whatever happens to comments and lines."""
    return hashlib.sha256(" ".join(sorted(mutant.key for mutant in all_mutants)).encode()).hexdigest()[:12]


def _compiled(tree: ast.Module, node: ast.AST, new: ast.AST, put: Put, filename: str) -> CodeType:
    for part in ast.walk(new):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    put(new)
    try:
        return compile(tree, filename, "exec", dont_inherit=True)
    finally:
        put(node)


def marked(source: str, filename: str) -> CodeType:
    """Return a source that adds the line of each executed statement in a function to the set ``REACHED`` of its module."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and all(isinstance(x, ast.stmt) for x in value) and node is not tree:
                setattr(
                    node,
                    field,
                    [y for x in value for y in (_mark(x), x)]
                    if not _is_docstring(value[0])
                    else [value[0], *(y for x in value[1:] for y in (_mark(x), x))],
                )
    return compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)


def _mark(statement: ast.stmt) -> ast.stmt:
    mark = ast.parse(f"REACHED.add({statement.lineno})").body[0]
    for part in ast.walk(mark):
        ast.copy_location(part, statement)
    return mark


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


_UNPARSED: dict[int, tuple[ast.AST, str]] = {}


def _text(node: ast.AST) -> str:
    """The source of a node, stored so that its identity is unique."""
    if id(node) not in _UNPARSED:
        _UNPARSED[id(node)] = node, ast.unparse(node)
    return _UNPARSED[id(node)][1]


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else f"{text[:69]}…"


def _scope(tree: ast.Module, scope: str) -> ast.AST:
    node: ast.AST = tree
    for name in scope.split("."):
        node = next(child for child in ast.iter_child_nodes(node) if isinstance(child, SCOPES) and child.name == name)
    return node


Edit = tuple[ast.AST, str, int, bool, str, ast.AST, Put]
Found = tuple[str, ast.AST]


def _inside(
    node: ast.AST,
    scope: str,
    statement: int,
    *,
    outermost: bool = False,
    in_function: bool = False,
    default: bool = False,
    context: str = "",
) -> Iterator[Edit]:
    """Edits of the parts of a node, which may be the outermost function; the context is axis or index for numbers that are
    these."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases") or (
            field == "exc" and isinstance(node, ast.Raise)
        ):
            continue
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _left_out(node, child, at):
                continue
            put = _putter(node, field, at if isinstance(value, list) else None)
            inner = _context(node, field, context)
            name, inside = scope, in_function
            if isinstance(child, SCOPES) and not in_function:
                name = f"{scope}.{child.name}".lstrip(".")
                inside = not isinstance(child, ast.ClassDef)
            shown, line = scope if in_function else "", child.lineno if isinstance(child, ast.stmt) else statement
            for sort, new in _of(child, inner, _assigned(node, child)):
                yield child, shown, line, default, sort, new, put
            if isinstance(child, ast.JoinedStr):
                continue
            yield from _inside(
                child,
                name,
                line,
                outermost=inside and not in_function,
                in_function=inside,
                default=default or (outermost and field == "args"),
                context=inner,
            )


def _left_out(parent: ast.AST, child: ast.AST, at: int) -> bool:
    if isinstance(child, ast.Import | ast.ImportFrom | ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
        return True
    if isinstance(child, ast.stmt) and _is_docstring(child):
        return True
    if isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
        return child.targets[0].id == "__all__" or _is_type(child.value)
    if isinstance(child, ast.keyword):
        return child.arg == "strict" and isinstance(parent, ast.Call) and ast.unparse(parent.func) == "zip"
    return isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "__name__ == '__main__'")


TYPES = {"Literal", "Callable", "TypeVar", "Mapping", "Sequence", "Iterator"}
BUILTIN = {"bool", "int", "float", "str", "tuple", "list", "dict", "set"}


def _is_type(value: ast.AST) -> bool:
    """Whether an expression is the alias of a type: `Literal[...]`, `A | None`, `TypeVar(...)`."""
    match value:
        case ast.BinOp(left, ast.BitOr(), right):
            return all(_is_type(x) or ast.unparse(x) == "None" for x in (left, right))
        case ast.Name(name):
            return name in BUILTIN or (name[:1].isupper() and not name.isupper())
        case ast.Subscript(ast.Name(name)) | ast.Call(ast.Name(name)):
            return name in TYPES or (isinstance(value, ast.Subscript) and name in BUILTIN)
    return False


def _putter(node: ast.AST, field: str, at: int | None) -> Put:
    def put(new: ast.AST) -> None:
        if at is None:
            setattr(node, field, new)
        else:
            getattr(node, field)[at] = new

    return put


def _context(node: ast.AST, field: str, context: str) -> str:
    if isinstance(node, ast.Subscript) and field == "slice":
        return "index"
    if isinstance(node, ast.keyword):
        return "axis" if node.arg in ("dim", "axis", "dims") else ""
    return context if isinstance(node, ast.UnaryOp | ast.Tuple | ast.Slice) else ""


def _assigned(parent: ast.AST, child: ast.AST) -> bool:
    """Whether a statement assigns to names that an earlier statement of the same body assigns, or changes."""
    if not isinstance(child, ast.Assign) or not isinstance(child.targets[0], ast.Name):
        return False
    name = child.targets[0].id
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(child.value))


def _of(node: ast.AST, context: str, again: bool) -> Iterator[Found]:  # noqa: C901
    """The replacements of a node."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC and not _is_text(left) and not _is_text(right):
            yield "operator", ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.UnaryOp(ast.USub(), operand):
            yield context or "sign", operand
        case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
            yield "condition", operand
        case ast.BoolOp(op, values):
            yield "condition", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.Compare(left, ops, comparators):
            for at, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield "comparison", ast.Compare(left, [*ops[:at], other(), *ops[at + 1 :]], comparators)
        case ast.Constant(bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int(value)):
            yield context or "constant", ast.Constant(value + 1)
            if value > 1:
                yield context or "constant", ast.Constant(value - 1)
        case ast.Constant(float(value)):
            yield "constant", ast.Constant(2 * value if value else 1.0)
        case ast.Attribute(value, attr) if attr in TRANSPOSED and isinstance(node.ctx, ast.Load):
            yield "transpose", value
        case ast.Call():
            yield from _of_call(node)
        case ast.IfExp(test, body, orelse):
            yield "condition", ast.IfExp(test, orelse, body)
        case ast.If(test, body, orelse):
            yield "condition", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Expr() if any(isinstance(part, ast.Name) and part.id == "super" for part in ast.walk(node)):
            yield "statement", ast.Expr(ast.Name("__class__", ast.Load()))  # without it the function would close over less
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield "statement", ast.Pass()
        case ast.Assign() if again:
            yield "statement", ast.Pass()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _of_call(node: ast.Call) -> Iterator[Found]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in CLAMPS and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in ("torch", "np"):
        yield "clamp", node.func.value
    if name in OPPOSITES:
        other = copy.deepcopy(node)
        if isinstance(other.func, ast.Attribute):
            other.func.attr = OPPOSITES[name]
        else:
            other.func = ast.Name(OPPOSITES[name], ast.Load())
        yield "opposite", other
    if name in ("max", "min", "maximum", "minimum") and len(node.args) == 2 and not node.keywords:
        yield "clamp", node.args[0]
        yield "clamp", node.args[1]
    if name == "where" and len(node.args) == 3:
        yield "clamp", node.args[1]
        yield "clamp", node.args[2]
