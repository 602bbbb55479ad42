"""Sums and products as they are printed: Σ_j, Σ_{j=1}^m, Σ_{i,j}, Σ_{l≠j}, Σ_{a∈𝒜}, Π_i."""

from collections.abc import Collection, Container, Mapping, Sequence, Set
from dataclasses import fields
from itertools import pairwise

import sympy as sp

from derivations.calculus.differentiation import differentiate
from derivations.calculus.division import product
from derivations.calculus.signs import strictly_positive
from derivations.calculus.sums import equal, total
from derivations.calculus.variables import Variable, Vector
from derivations.domains import Real
from derivations.reader.meaning.ranges import UNEQUAL, Pair, ordered_pair, printed_ranges
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import RangeError, Value, bound, product_of, scalar
from derivations.reader.syntax.names import index_parts, plain
from derivations.reader.syntax.tree import (
    EMPTY,
    Bracket,
    Chain,
    LatexError,
    Node,
    Operator,
    Product,
    Scripted,
    Symbol,
    parts_of,
    spelled,
    walk,
)

BIG = ("\\sum", "\\prod")


def big_sum(reader: Reader, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    """Read a sum over the indices below it; its summand is the rest of the product."""
    if (pair := ordered_pair(sub, sup)) is not None:
        return _over_pairs(reader, pair, rest)
    body, over = _summed(reader, bindings(reader, sub, sup), tuple(rest), may_change=sup is None)
    rest.clear()
    return Value(body.shape, lambda *indices: total(over, product_of(sp.Mul.make_args(body.entry(*indices)))), body.row)


def _over_pairs(reader: Reader, pair: Pair, rest: list[Node]) -> Value:
    """Read Σ_{i<j} of a summand that is symmetric in i and j: half of the sum over all pairs with i ≠ j."""
    one, other = pair.letters
    size = reader.index_of(one, "\\sum").domain.shape[0] if pair.end is None else _end(reader, pair.end)
    i, j = bound(size, plain(one)), bound(size, plain(other))
    body = reader.within(**{one: scalar(i), other: scalar(j)}).product(rest).number
    rest.clear()
    if pair.end is None and reader.index_of(other, "\\sum").domain.shape[0] != size:
        raise LatexError(f"\\sum: expected {one} < {other} over one range, got two ranges")
    if not equal(body, body.xreplace({i: j, j: i})):
        raise LatexError(f"\\sum: expected a summand that is symmetric in {one} < {other}, it is not shown for {body}")
    return scalar((total((i, j), body) - total(i, body.xreplace({j: i}))) / 2)


def big_product(reader: Reader, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    """Read a product of positive numbers over the indices below it as the exponential of a sum of logarithms."""
    indices = bindings(reader, sub, sup)
    _check_reach(indices, rest)
    body, over = _summed(reader, indices, tuple(rest), may_change=sup is None)
    rest.clear()
    logarithm = _logarithm(body.number)
    same = sp.Add(*(term for term in sp.Add.make_args(logarithm) if not term.free_symbols & {*over}))
    count = sp.Mul(*(each.domain.shape[0] - len(each.domain.other_than) for each in over))
    return scalar(sp.exp(total(over, logarithm - same)) * sp.exp(same) ** count)


def _check_reach(names: Container[str], rest: Sequence[Node]) -> None:
    """Raise LatexError for Π_i a_i b, which can be (Π_i a_i) b or Π_i (a_i b)."""
    bound_at = [position for position, each in enumerate(rest) if any(spelled(part) in names for part in walk(each))]
    after = [each for each in rest[max(bound_at, default=0) + 1 :] if not isinstance(each, Operator)]
    if after:
        text = spelled(Product(tuple(rest)))
        raise LatexError(
            f"\\prod {text}: expected parentheses, as {spelled(after[0])} can be a factor of each term or of the product"
        )


def _logarithm(expr: sp.Expr) -> sp.Expr:
    """Return the logarithm of a positive number, expanded; raises LatexError if it is not known to be positive."""
    if isinstance(expr, sp.exp):
        return expr.args[0]
    if isinstance(expr, sp.Mul) and all(strictly_positive(factor) for factor in expr.args):
        return sp.Add(*map(_logarithm, expr.args))
    if not strictly_positive(expr):
        raise LatexError(f"\\prod: expected positive factors, it is not shown that {expr} > 0")
    return (
        product(expr.exp, _logarithm(expr.base)) if isinstance(expr, sp.Pow) and strictly_positive(expr.base) else sp.log(expr)
    )


def integral(reader: Reader, rest: list[Node]) -> Value | None:
    """Read ∫ f(a) da over a finite set of points a, or ∫ f(a) u(a) da under a normal law u; None otherwise."""
    for at in range(len(rest) - 1):
        name = spelled(rest[at + 1])
        if spelled(rest[at]) in ("d", "\\mathrm{d}") and name.rstrip("'") in reader.notation.points:
            integrand = tuple(rest[:at])
            del rest[: at + 2]
            return _weighed(reader, name, integrand)
        if spelled(rest[at]) in ("d", "\\mathrm{d}") and (law := _law(reader, name, rest[:at])) is not None:
            mean, others = law
            del rest[: at + 2]
            return _normal_mean(reader, name, mean, others)
    return None


def _law(reader: Reader, name: str, factors: Sequence[Node]) -> tuple[Value, Sequence[Node]] | None:
    """Return the mean of the normal law that is a factor of an integrand, and the other factors."""
    for at, (symbol, call) in enumerate(pairwise(factors)):
        if spelled(symbol) in reader.notation.laws and isinstance(call, Bracket) and spelled(call.inside) == name:
            return reader.value(reader.notation.laws[spelled(symbol)]), (*factors[:at], *factors[at + 2 :])
    return None


def _normal_mean(reader: Reader, name: str, mean: Value, factors: Sequence[Node]) -> Value:
    """Return E e^{⟨a, c⟩ + k} = e^{⟨m, c⟩ + ‖c‖²/2 + k} under N(m, I); raises LatexError for another function."""
    label = Variable(f"{plain(name)}#integral", Real(mean.shape))
    of = Vector(label, shape=mean.shape)
    function = reader.within(**{name: Value(mean.shape, lambda i: of[i])}).product(factors).number if factors else sp.S.One
    exponent = function.args[0] if isinstance(function, sp.exp) else sp.S.Zero if function == 1 else None
    r = bound(mean.shape[0])
    slope = differentiate(exponent, of[r]) if exponent is not None else sp.S.Zero
    if exponent is None or slope.has(label):
        text = spelled(Product(tuple(factors)))
        raise LatexError(f"\\int: expected the exponential of a linear function of {name}, got {text}")
    start = exponent.xreplace({each: sp.S.Zero for each in exponent.atoms(sp.Indexed) if each.base.label == label})
    return scalar(sp.exp(start + total(r, product(mean.entry(r), slope)) + total(r, slope**2) / 2))


def _weighed(reader: Reader, name: str, factors: Sequence[Node]) -> Value:
    index = bound(reader.index_of(name, "\\int").domain.shape[0], plain(name))
    body = reader.within(**{name: reader.point(name, index)}).product(factors)
    return Value(body.shape, lambda *indices: total(index, product_of(sp.Mul.make_args(body.entry(*indices)))), body.row)


def _summed(
    reader: Reader, indices: Mapping[str, Variable], factors: Sequence[Node], *, may_change: bool
) -> tuple[Value, tuple[Variable, ...]]:
    """Return summand and bound indices; an index without a printed range may get another range to fit."""
    wrong: RangeError | None = None
    others = list(reader.notation.sizes.values()) if may_change and len(indices) == 1 else []
    for size in [None, *others]:
        own = {name: each if size is None else bound(size, plain(name)) for name, each in indices.items()}
        try:
            body = reader.within(**{name: reader.point(name, each) for name, each in own.items()}).product(factors)
            body.entry(*(bound(axis) for axis in body.shape))  # forces lazy entries
            return body, tuple(own.values())
        except RangeError as error:
            wrong = wrong or error
    assert wrong is not None
    raise wrong


def is_big(node: Node) -> bool:
    """Return whether a factor is Σ or Π."""
    base = node.base if isinstance(node, Scripted) else node
    return isinstance(base, Symbol) and base.name in BIG


def occurs_free(node: object, letter: str) -> bool:
    """Return whether a letter occurs free: not bound by a sum, product, maximum or expectation."""
    if isinstance(node, Product):
        for factor in node.factors:
            if binds(factor, letter):
                return False
            if occurs_free(factor, letter):
                return True
        return False
    if isinstance(node, Symbol):
        return node.name == letter
    if isinstance(node, Node):
        return any(occurs_free(getattr(node, each.name), letter) for each in fields(node))
    return isinstance(node, tuple) and any(occurs_free(part, letter) for part in node)


def binds(factor: Node, letter: str) -> bool:
    """Whether a factor is the sign of a sum, product, maximum or expectation that binds a letter."""
    if not (isinstance(factor, Scripted) and factor.sub is not None):
        return False
    if spelled(factor.base) in (*BIG, "\\max", "\\min", "\\sup", "\\inf"):
        return any(spelled(part) == letter for part in walk(factor.sub))
    return isinstance(factor.sub, Chain) and factor.sub.signs == ("\\sim",) and spelled(factor.sub.parts[0]) == letter


def check_pairs(node: Node, names: Collection[str]) -> None:
    """Raises LatexError for Σ_{i≠j} if j is bound by no sum around it and free nowhere else: it can be a sum over all pairs."""
    _check_pairs(node, node, {name for name in names if not occurs_free(node, name)})


def _check_pairs(part: Node, parent: Node, names: Set[str]) -> None:
    """Check a part of a formula; `names` are the indices that nothing around it binds and that are free nowhere."""
    if not isinstance(part, Product):
        for each in parts_of(part):
            _check_pairs(each, parent, names)
        return
    for position, factor in enumerate(part.factors):
        pair = factor.sub if isinstance(factor, Scripted) and factor.base == Symbol("\\sum") else None
        other = pair.parts[1] if isinstance(pair, Chain) and pair.signs[0] in UNEQUAL else None
        count = sum(_occurrences(each, other) for each in part.factors[position:])
        if isinstance(pair, Chain) and other is not None and spelled(other) in names and count > 1:
            raise LatexError(
                f"{spelled(factor)}: expected {spelled(other)} elsewhere in the formula, or a sum over it before this one, "
                f"as it can be a sum over {spelled(pair.parts[0])} or over both"
            )
        _check_pairs(factor, parent, names)
        names = {name for name in names if not binds(factor, name)}


def _occurrences(node: Node, name: Node | None) -> int:
    return sum(each == name for each in walk(node))


def bindings(reader: Reader, sub: Node | None, sup: Node | None) -> dict[str, Variable]:
    """Return the indices bound by a sum, by printed name; accepts printed ranges, “i, j”, “j ≠ i” and “a ∈ 𝒜”."""
    if sub is None:
        raise LatexError("\\sum: the index below is missing")
    if (ranges := printed_ranges(sub, sup)) is not None:
        size, apart = _end(reader, ranges.end), () if ranges.apart is None else (_other(reader, ranges.apart),)
        if any(index.domain.shape != (size,) for index in apart):
            raise LatexError(f"\\sum: expected the range of {spelled(ranges.apart)}, got 1 to {spelled(ranges.end)}")
        return {name: bound(size, plain(name), apart) for name in ranges.letters}
    if isinstance(sub, Chain) and sub.signs[0] in UNEQUAL:
        name, other = spelled(sub.parts[0]), sub.parts[1]
        assert other is not None
        index = _other(reader, other)
        return {name: bound(index.domain.shape[0], plain(name), (index,))}
    if isinstance(sub, Chain) and sub.signs == ("=",):
        raise LatexError(f"\\sum: expected a sum from 1 to a size, got {spelled(sub)} to {spelled(sup) or 'nothing'}")
    if isinstance(sub, Chain) and sub.signs == ("\\in",):
        name, size = spelled(sub.parts[0]), reader.notation.sizes.get(spelled(sub.parts[1]))
        if size is not None:
            return {name: bound(size, plain(name))}
        sub = sub.parts[0] or EMPTY
    names = [spelled(part) for part in index_parts(sub)]
    return {name: bound(reader.index_of(name, "\\sum").domain.shape[0], plain(name)) for name in names}


def _other(reader: Reader, other: Node) -> Variable:
    """The index that a sum leaves out."""
    index = reader.subscript(other)
    if not isinstance(index, Variable):
        raise LatexError(f"\\sum: expected an index on the right of \\ne, got {spelled(other)}")
    return index


def _end(reader: Reader, end: Node) -> sp.Expr:
    """The last value of an index."""
    high = reader.value(end).number
    if not (high.is_integer and high.is_positive):
        raise LatexError(f"\\sum: expected a size of the notation as the last value, got {spelled(end)}")
    return high
