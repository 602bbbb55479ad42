"""Derivatives as they are printed: ∂f/∂x, ∂_x f, d/dx, ∇_s f and ∇²_s f, entry by entry."""

from collections.abc import Sequence
from itertools import combinations, product

import sympy as sp

from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, derivative
from derivations.calculus.sums import appearance
from derivations.calculus.variables import Variable, Vector, variables_of
from derivations.domains import Real
from derivations.reader.meaning.notation import Definition
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Value, at, bound, is_index, scalar, transposed
from derivations.reader.syntax.names import parts
from derivations.reader.syntax.tree import (
    Bracket,
    Fraction,
    LatexError,
    Listing,
    Node,
    Number,
    Operator,
    Product,
    Scripted,
    Symbol,
    spelled,
)

FUNCTIONS = ("\\exp", "\\log", "\\ln", "\\mathrm{ln}", "\\mathrm{log}", "\\mathrm{exp}")
STARTING = (*FUNCTIONS, "\\sum", "\\prod", "\\nabla", "\\partial")
TRANSPOSED = ("\\top", "T", "\\mathrm{T}", "\\intercal", "\\mathsf{T}")
PARTIAL = ("\\partial", "d", "\\mathrm{d}")


def nabla(reader: Reader, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    """∇_s f, the vector of partial derivatives, and ∇²_s f, the matrix of second ones."""
    twice = sup is not None and spelled(sup) == "2"
    if not rest:
        raise LatexError("\\nabla: missing function after it")
    row = _strip_transposed(rest)
    if sub is None:
        sub = _only_argument(reader, rest[0], rest[1] if len(rest) > 1 else None)
    by = reader.product((sub,))
    if sup is not None and not twice:
        raise LatexError(f"\\nabla: expected no power or 2, got {spelled(sup)}")
    if (evaluated := _point(reader, sub, rest)) is not None:
        formal_call, point = evaluated
        function, _ = rest.pop(0), rest.pop(0)
        gradient = nabla(reader, sub, sup, [function, formal_call])
        return put_at(transposed(gradient) if row else gradient, by, point)
    body = operand(reader, Symbol("\\nabla"), rest)
    first = slope(body, by)
    if row and not twice:
        return transposed(first)
    return slope(first, by) if twice else first


def _point(reader: Reader, sub: Node, rest: list[Node]) -> tuple[Bracket, Value] | None:
    """Read ∇_x f(…, q, …), the gradient in x taken at q; return the call with x in place of q, and q."""
    call = rest[1] if len(rest) > 1 else None
    meaning = reader.meaning(spelled(rest[0]))
    if not isinstance(meaning, Definition) or not isinstance(call, Bracket) or call.kind != "()":
        return None
    arguments, formal = list(parts(call.inside)), meaning.pattern.arguments
    if len(arguments) != len(formal) or spelled(sub) not in formal or arguments[formal.index(spelled(sub))] == sub:
        return None
    at = formal.index(spelled(sub))
    point = reader.value(arguments[at])
    arguments[at] = sub
    inside = arguments[0] if len(arguments) == 1 else Listing(tuple(arguments), (",",) * (len(arguments) - 1))
    return Bracket("()", inside), point


def put_at(body: Value, old: Value, new: Value) -> Value:
    """Substitute for a variable, or for each entry of a vector, after differentiating."""
    if (new.shape and old.shape != new.shape) or len(old.shape) > 1:
        raise LatexError(f"expected two values of one shape at a point, got {old.words} and {new.words}")
    indices = tuple(map(bound, old.shape))
    symbol = old.entry(*indices)
    label = symbol.base.label if isinstance(symbol, sp.Indexed) else symbol
    if not isinstance(label, Variable):
        raise LatexError("expected a variable of the notation at a point, got an expression")

    def entry(*indices: sp.Expr) -> sp.Expr:
        expr = body.entry(*indices)
        expr = expr.replace(lambda part: isinstance(part, Partial), lambda part: differentiate(*part.args))
        if not old.shape:
            return expr.xreplace({symbol: new.number})
        return expr.replace(
            lambda part: isinstance(part, sp.Indexed) and part.base.label == label, lambda part: at(new, part.indices)
        )

    return Value(body.shape, entry, body.row)


def _strip_transposed(rest: list[Node]) -> bool:
    """Remove a ⊤ after the arguments, as in ∇ log p(a)^⊤, where it transposes the gradient; return whether there was one."""
    for position, node in enumerate(rest[:3]):
        called = isinstance(node, Scripted) and isinstance(node.base, Bracket) and position > 0
        if called and isinstance(node, Scripted) and node.sup is not None and spelled(node.sup) in TRANSPOSED:
            rest[position] = node.base
            return True
        if not isinstance(node, Symbol | Scripted):
            return False
    return False


def _only_argument(reader: Reader, first: Node, call: Node | None) -> Node:
    """The argument of a function, or the symbol in parentheses after the name of an operator."""
    meaning = reader.meaning(spelled(first))
    inside = call.inside if isinstance(meaning, str) and isinstance(call, Bracket) else None
    if isinstance(inside, Symbol) and isinstance(reader.meaning(inside.name), Value):
        return inside
    if isinstance(meaning, Definition) and len(meaning.pattern.arguments) == 1:
        return Symbol(meaning.pattern.arguments[0])
    raise LatexError(f"\\nabla: expected a variable as subscript, since {spelled(first)} is no function of one argument")


def inline(factors: Sequence[Node]) -> list[Node]:
    """Turn an inline ∂f/∂x into a fraction: everything from the first ∂ to the slash is differentiated."""
    nodes = list(factors)
    for start, node in enumerate(nodes):
        slash = next((at for at in range(start + 1, len(nodes)) if nodes[at] == Operator("/")), None)
        below = nodes[slash + 1 : slash + 3] if slash is not None else []
        if node == Symbol("\\partial") and slash is not None and len(below) == 2 and below[0] == Symbol("\\partial"):
            slope = Fraction(Product(tuple(nodes[start:slash])), Product(tuple(below)))
            return [*nodes[:start], slope, *inline(nodes[slash + 3 :])]
    return nodes


def is_derivative(reader: Reader, over: Node, under: Node) -> bool:
    """Return whether a fraction is a derivative, ∂f/∂x or the operator ∂/∂x."""
    first = under.factors[0] if isinstance(under, Product) else under
    name = spelled(first)
    top = over.factors[0] if isinstance(over, Product) else over
    plain_top = spelled(top.base) if isinstance(top, Scripted) else spelled(top)
    if name not in PARTIAL or plain_top != name or not isinstance(under, Product):
        return False
    if name != "\\partial" and reader.meaning(name) is not None and not _cancels(reader, over, under):
        shown = f"\\frac{{{spelled(over)}}}{{{spelled(under)}}}"
        raise LatexError(f"{shown}: expected \\partial in a derivative, as {name} is a symbol of the notation")
    return True


def _cancels(reader: Reader, over: Node, under: Product) -> bool:
    """Return whether a dimension d would cancel, so that d/dx, or df/dx with f depending on x, is a derivative."""
    if spelled(under.factors[0]) not in reader.notation.sizes:
        return False
    by = reader.product(under.factors[1:])
    if not isinstance(over, Product):
        return not by.shape and not is_index(by)
    value = reader.product(over.factors[1:])
    indices = [bound(size) for size in value.shape if size is not None]
    return not by.shape and len(indices) == len(value.shape) and at(value, indices).has(by.number)


def operand(reader: Reader, operator: Node, rest: list[Node]) -> Value:
    """Return what is differentiated: one factor; several are ambiguous unless they belong to another derivative."""
    if not rest:
        raise LatexError(f"{spelled(operator)}: missing function after it")
    first, before, original = rest[0], len(rest), list(rest)
    body = reader.next(rest)
    called = before - len(rest) > 1  # ∇f(x) y and ∂_x f(x) (…) are products
    product = called and (operator == Symbol("\\nabla") or isinstance(rest[0] if rest else None, Bracket))
    unbracketed = not isinstance(first, Bracket) and not product
    if unbracketed and rest and not isinstance(rest[0], Operator) and (_is_number(body) or not starts_function(rest[0])):
        one, other = spelled(Product(tuple(original[: before - len(rest)]))), spelled(rest[0])
        raise LatexError(
            f"{spelled(operator)} {one} {other}: expected parentheses, as the derivative can be that of {one} "
            f"or that of {one} {other}"
        )
    return body


def _is_number(body: Value) -> bool:
    """Return whether only sizes occur, as in the factor 1/m of d/dx 1/m Σ_i f(x), which is not differentiated."""
    return not body.shape and all(v.domain.is_size for v in variables_of(body.number))


def slopes(reader: Reader, sign: Node, under: Node, body: Value) -> Value:
    """Read ∂f/∂x or ∂²f/∂x∂y; raises LatexError if the orders differ, as in ∂f/∂x²."""
    moving, order = _moving(reader, under), spelled(sign.sup) if isinstance(sign, Scripted) else "1"
    if order != str(len(moving)):
        raise LatexError(f"derivative: expected the order {order} below, got {len(moving)} in {spelled(under)}")
    for by in moving:
        body = slope(body, by)
    return body


def _moving(reader: Reader, under: Node) -> list[Value]:
    assert isinstance(under, Product)
    moving: list[Value] = []
    factors = list(under.factors)
    while factors:
        moving_factors = [factors.pop(0)]
        if spelled(moving_factors[0]) in PARTIAL:
            continue
        if factors and _is_call(factors[0]):
            moving_factors.append(factors.pop(0))  # ∂Q(a), the entry of Q at a
        last, times_ = moving_factors[-1], 1
        if isinstance(last, Scripted) and isinstance(last.sup, Number) and last.sup.text.isdigit():
            moving_factors[-1] = Scripted(last.base, last.sub, None, last.primes) if last.sub else last.base
            times_ = int(last.sup.text)
        moving += [reader.product(moving_factors)] * times_
    return moving


def _is_call(node: Node) -> bool:
    bracket = node.base if isinstance(node, Scripted) and node.sub is None else node
    return isinstance(bracket, Bracket) and bracket.kind == "()"


def primed(reader: Reader, meaning: Definition, primes: int, point: Node | None) -> Value:
    """Read f'(x) and f''(x): derivatives of a defined function of one number in its argument, taken at a point.

    Raises LatexError for a function of a vector or of several arguments.
    """
    name, arguments = meaning.pattern.name, meaning.pattern.arguments
    declared = reader.notation.meanings.get(arguments[0]) if len(arguments) == 1 and not meaning.pattern.indices else None
    own = declared.entry() if isinstance(declared, Value) and not declared.shape else None
    if not isinstance(own, Variable) or not own.domain.has_slope:
        raise LatexError(f"{name}': expected a function of one real number, got one of ({', '.join(arguments)})")
    here = point is None or spelled(point) == arguments[0]
    moving = own if here else Variable(f"{own.name}#point", Real())
    body = reader.fresh().within(**{arguments[0]: scalar(moving)}).value(meaning.body).number
    if moving is not own and own in body.free_symbols:
        raise LatexError(f"{name}': expected all of {arguments[0]} in the definition of {name} itself, got some elsewhere")
    for _ in range(primes):
        body = derivative(body, moving) if here else differentiate(body, moving)
    return scalar(body if here or point is None else body.xreplace({moving: reader.value(point).number}))


def slope(body: Value, by: Value) -> Value:
    """The derivative by a variable, an entry, or by each entry of a vector, which adds an axis."""
    if not by.shape:
        through = by.number if isinstance(by.number, sp.Sum) else None
        return Value(
            body.shape,
            lambda *indices: (
                derivative(at(body, indices), by.number) if through is None else _through(at(body, indices), through)
            ),
        )
    if len(by.shape) != 1:
        raise LatexError(f"derivative: expected a number or a vector, got {by.words}")
    return Value((*body.shape, *by.shape), lambda *indices: derivative(at(body, indices[:-1]), by.entry(indices[-1])))


def _through(expr: sp.Expr, by: sp.Sum) -> sp.Expr:
    """Differentiate by a defined number S_ij = Σ_r q_ir k_jr on which an expression depends through the entries of S alone."""
    axes = sorted((v for v in by.free_symbols if isinstance(v, Variable) and v.domain.is_index), key=str)
    swapped = [by.xreplace({one: other, other: one}) for one, other in combinations(axes, 2)]
    behind = {v for v in variables_of(by) if not v.domain.is_integer}
    shape = tuple(each.domain.shape[0] for each in axes)
    free = Vector(Variable(f"{by}#through", Real(shape)), shape=shape)

    def lifted(part: sp.Expr) -> sp.Expr:
        positions = {each for entry in part.atoms(sp.Indexed) for each in entry.indices} - {*part.bound_symbols}
        for chosen in product(positions, repeat=len(axes)):
            if appearance(by.xreplace(dict(zip(axes, chosen, strict=True)))) == appearance(part):
                return free[chosen]
        return part

    function = expr.replace(lambda part: isinstance(part, sp.Sum) and not part.atoms(Partial), lifted)
    if not axes or behind & {*variables_of(function)} or any(appearance(each) == appearance(by) for each in swapped):
        return derivative(expr, by)
    slope_ = differentiate(function, free[tuple(axes)])
    return slope_.replace(
        lambda part: isinstance(part, sp.Indexed) and part.base == free,
        lambda part: by.xreplace(dict(zip(axes, part.indices, strict=True))),
    )


def starts_function(node: Node) -> bool:
    """Return whether a factor is an operator that takes what follows it."""
    base = node.base if isinstance(node, Scripted) else node
    if isinstance(base, Fraction):
        return spelled(base.over) in PARTIAL
    return isinstance(base, Symbol) and base.name in STARTING
