"""The named operators of the field: softmax, KL, entropies, expectations, variances, norms, inner products, diag."""

from collections.abc import Sequence

import sympy as sp

from derivations.calculus import division
from derivations.calculus.functions import xlogx
from derivations.calculus.powers import plus as positive_part
from derivations.calculus.sums import delta, equal, total
from derivations.calculus.variables import Variable
from derivations.reader.meaning import randoms
from derivations.reader.meaning.notation import Named
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import (
    IDENTITY,
    ONES,
    ZEROS,
    Value,
    bound,
    check_inverse,
    coincide,
    common,
    entrywise,
    inner,
    product_of,
    scalar,
)
from derivations.reader.syntax.names import index_parts, parts, plain
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import (
    Bracket,
    Chain,
    Fraction,
    LatexError,
    Listing,
    Node,
    Operator,
    Product,
    Scripted,
    Symbol,
    spelled,
)

DEFAULT = {
    "\\mathrm{softmax}": "softmax",
    "\\mathrm{Softmax}": "softmax",
    "\\mathrm{logsumexp}": "logsumexp",
    "\\mathrm{LSE}": "logsumexp",
    "\\mathrm{KL}": "KL",
    "D_{\\mathrm{KL}}": "KL",
    "D_{KL}": "KL",
    "\\mathbb{D}_{\\mathrm{KL}}": "KL",
    "\\mathrm{D}_{\\mathrm{KL}}": "KL",
    "\\mathbb{E}": "expectation",
    "\\mathrm{E}": "expectation",
    "\\mathrm{Var}": "variance",
    "\\mathbb{V}": "variance",
    "\\mathrm{Cov}": "covariance",
    "\\mathrm{diag}": "diag",
    "\\mathrm{Diag}": "diag",
    "\\mathrm{tr}": "trace",
    "\\mathrm{Tr}": "trace",
    "\\mathbf{1}": "ones",
    "\\mathbb{1}": "ones",
    "\\mathbf{0}": "zeros",
    "\\mathbb{I}": "indicator",
    "I": "identity",
    "\\mathbf{I}": "identity",
    "\\mathrm{I}": "identity",
    "\\delta": "delta",
    "H": "entropy",
    "\\mathcal{H}": "entropy",
    "\\mathrm{H}": "entropy",
    "\\mathbb{H}": "entropy",
    "\\tanh": "tanh",
    "\\mathrm{sigmoid}": "logistic",
}


def apply(reader: Reader, operator: str, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    """Apply an operator with its scripts to its arguments, which are removed from `rest`."""
    operator, _, law = operator.partition(" under ")
    if law and (sub is None or spelled(parse(law)).endswith(f"\\sim {spelled(sub)}")):
        sub = parse(law)  # E_u, if the table declares W ∼ u
    if operator in ("ones", "indicator") and (stated := condition(sub if sub is not None else rest[0] if rest else None)):
        del rest[: 1 if sub is None else 0]
        return indicator(reader, stated)
    if operator == "indicator":
        raise LatexError("indicator: expected a condition after it, i = j or i \\ne j")
    if operator in CONSTANTS:
        return _constant(reader, operator, sub, sup)
    if operator == "delta":
        return _delta(reader, sub)
    if operator in ("expectation", "variance", "covariance"):
        return _moment(reader, operator, sub, sup, rest)
    argument, after, power = _argument(operator, rest)
    result, sup = TABLE[operator](reader, argument), one_power(operator, sup, power)
    scripts = [each for each in (sub, after) if each is not None]
    if len(scripts) > 1 or (scripts and not result.shape):
        raise LatexError(
            f"{operator}: expected {'one subscript' if result.shape else 'no subscript'}, got "
            f"{' and '.join(map(spelled, scripts))}"
        )
    return reader.scripts(result, scripts[0] if scripts else None, sup, operator)


def one_power(name: str, sup: Node | None, power: Node | None) -> Node | None:
    """Return the power in f²(x) or f(x)²; raises LatexError for f⁻¹(x) and for two powers."""
    check_inverse(name, sup)
    if sup is not None and power is not None:
        raise LatexError(f"{name}: expected one power, got {spelled(sup)} and {spelled(power)}")
    return sup if sup is not None else power


def _argument(operator: str, rest: list[Node]) -> tuple[Node, Node | None, Node | None]:
    """Return the argument in brackets, and the scripts after them, which apply to the result."""
    if not rest:
        raise LatexError(f"{operator}: missing argument in parentheses")
    first = rest.pop(0)
    node, after, power = (first.base, first.sub, first.sup) if isinstance(first, Scripted) else (first, None, None)
    if operator == "trace" and isinstance(first, Symbol) and not rest:
        return first, None, None  # \tr A with nothing after it
    if operator == "tanh" and isinstance(first, Fraction | Symbol) and not rest:
        return first, None, None  # \tanh \frac{x}{2}
    if not isinstance(node, Bracket):
        raise LatexError(f"{operator}: expected an argument in parentheses, got {spelled(first)}")
    return node.inside, after, power


# ── functions of vectors ────────────────────────────────────────────────────────────────────────────────────────────


def _softmax(reader: Reader, argument: Node) -> Value:
    scores = reader.value(argument)
    if not scores.shape:
        raise LatexError(f"softmax: expected a vector, got the number {spelled(argument)}")

    def entry(*indices: sp.Expr) -> sp.Expr:
        l = bound(scores.shape[-1])  # noqa: E741
        return division.quotient(sp.exp(scores.entry(*indices)), total(l, sp.exp(scores.entry(*indices[:-1], l))))

    return Value(scores.shape, entry)


def _logsumexp(reader: Reader, argument: Node) -> Value:
    scores = reader.value(argument)
    if len(scores.shape) != 1:
        raise LatexError(f"logsumexp: expected a vector, got {scores.words}")
    l = bound(scores.shape[0])  # noqa: E741
    return scalar(sp.log(total(l, sp.exp(scores.entry(l)))))


def _pair(reader: Reader, operator: str, argument: Node) -> tuple[Value, Value]:
    arguments = parts(argument)
    if len(arguments) != 2:
        raise LatexError(f"{operator}: expected two distributions, got {spelled(argument)}")
    one, other = (distribution(reader, part) for part in arguments)
    return one, other


def distribution(reader: Reader, node: Node) -> Value:
    """Return all values of a distribution, written with arguments, q(z) or p(z | x), or without."""
    first, call = node.factors if isinstance(node, Product) and len(node.factors) == 2 else (None, None)
    meaning = reader.function(spelled(first), call) if first is not None and call is not None else None
    if isinstance(meaning, Named) and isinstance(call, Bracket):
        check_labels(reader, spelled(first), meaning, parts(call.inside))
        return meaning.value
    return reader.value(node)


def check_labels(reader: Reader, name: str, meaning: Named, arguments: Sequence[Node]) -> None:
    """Raise LatexError for a label other than the declared one: p(y | x) does not define p(y | w)."""
    for part, label in zip(arguments, meaning.arguments, strict=False):
        here, declared = reader.scope.get(label), reader.notation.meanings.get(label)
        relabelled = here is not None and not (
            isinstance(declared, Value) and declared.shape == here.shape == () and declared.number == here.number
        )
        if label not in meaning.axes and (spelled(part) != label or relabelled):
            raise LatexError(f"{name}: expected the label {label}, for which it is declared, got another one")


def _kl(reader: Reader, argument: Node) -> Value:
    q, p = _pair(reader, "KL", argument)
    indices = tuple(map(bound, common(q, p, "KL")))
    if not q.shape or not p.shape:
        raise LatexError(f"KL: expected two vectors, got {q.words} and {p.words} in {spelled(argument)}")
    return scalar(total(indices, xlogx(q.entry(*indices)) - division.product(q.entry(*indices), sp.log(p.entry(*indices)))))


def _entropy(reader: Reader, argument: Node) -> Value:
    p = distribution(reader, argument)
    if not p.shape:
        raise LatexError(f"entropy: expected a vector, got the number {spelled(argument)}")
    indices = tuple(map(bound, p.shape))
    return scalar(-total(indices, xlogx(p.entry(*indices))))


def _diag(reader: Reader, argument: Node) -> Value:
    value = reader.value(argument)
    if len(value.shape) == 2:
        return Value(value.shape[:1], lambda i: value.entry(i, i))
    if len(value.shape) != 1:
        raise LatexError(f"diag: expected a vector or a matrix, got {value.words}")
    return Value((*value.shape, *value.shape), lambda i, j: value.entry(i) * delta(i, j))


def _trace(reader: Reader, argument: Node) -> Value:
    value = reader.value(argument)
    if len(value.shape) != 2 or value.shape[0] != value.shape[1]:
        raise LatexError(f"tr: expected a square matrix, got {value.words}")
    i = bound(value.shape[0])
    return scalar(total(i, value.entry(i, i)))


def _logistic(reader: Reader, argument: Node) -> Value:
    return entrywise(lambda x: 1 / (1 + sp.exp(-x)), reader.value(argument), what="logistic")


def _tanh(reader: Reader, argument: Node) -> Value:
    return entrywise(lambda x: (sp.exp(x) - sp.exp(-x)) / (sp.exp(x) + sp.exp(-x)), reader.value(argument), what="tanh")


TABLE = {
    "softmax": _softmax,
    "logsumexp": _logsumexp,
    "KL": _kl,
    "entropy": _entropy,
    "diag": _diag,
    "trace": _trace,
    "logistic": _logistic,
    "tanh": _tanh,
}


# ── moments ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _moment(reader: Reader, operator: str, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    """Read E_{i∼p}[X], E_p[u], E_{q(z)}[X]: weights from the subscript, the weighted quantity from the bracket."""
    if sub is None:
        return reader.scripts(randoms.moment(reader, operator, rest), None, sup, operator)
    weights, names = _law(reader, sub)
    if not rest:
        raise LatexError(f"{operator}: missing argument")
    bare = _plain_factor(rest[0])
    argument, after, power = (rest.pop(0), None, None) if bare else _argument(operator, rest)
    if bare and rest and not isinstance(rest[0], Operator):
        raise LatexError(f"{operator}: expected brackets around what follows, got {spelled(argument)} {spelled(rest[0])}")
    sup = one_power(operator, sup, power)
    pieces = parts(argument) if operator == "covariance" else (argument,)
    if len(pieces) != (2 if operator == "covariance" else 1):
        raise LatexError(
            f"{operator}: expected {'two arguments' if operator == 'covariance' else 'one argument'}, got {spelled(argument)}"
        )
    _check_mass(weights, operator, sub)
    over = tuple(bound(size, plain(name) or "l") for name, size in zip(names, weights.shape, strict=True))
    inside = reader.within(**{name: reader.point(name, each) for name, each in zip(names, over, strict=True) if name})
    weighed = [_weighed(inside.value(piece), over, names) for piece in pieces]

    def mean(*of: int) -> Value:
        shape = weighed[0].shape if of else ()

        def entry(*indices: sp.Expr) -> sp.Expr:
            return total(over, product_of((weights.entry(*over), *(weighed[each].entry(*indices) for each in of))))

        return Value(shape, entry)

    if operator == "expectation":
        return reader.scripts(mean(0), after, sup, operator)
    first, second = (0, 0) if operator == "variance" else (0, 1)
    if any(each.shape for each in weighed):
        raise LatexError(f"{operator}: expected numbers, got {weighed[0].words}")
    both, one, other = mean(first, second), mean(first), mean(second)
    return reader.scripts(scalar(both.number - division.product(one.number, other.number)), after, sup, operator)


def _check_mass(weights: Value, operator: str, sub: Node) -> None:
    """Raise LatexError for weights whose total mass is not known to be 1: E_x can be a mean over values of x."""
    over = tuple(map(bound, weights.shape))
    if not equal(total(over, weights.entry(*over)), sp.S.One):
        raise LatexError(f"{operator}: expected a distribution as subscript, it is not shown that {spelled(sub)} has mass 1")


def _plain_factor(node: Node) -> bool:
    return not isinstance(node.base if isinstance(node, Scripted) else node, Bracket)


def _law(reader: Reader, sub: Node) -> tuple[Value, tuple[str, ...]]:
    """Return the weights of an expectation and the names of its bound indices, empty if not given."""
    if isinstance(sub, Chain) and sub.signs == ("\\sim",):
        assert sub.parts[1] is not None
        weights, _ = _law(reader, sub.parts[1])
        assert sub.parts[0] is not None
        names = tuple(map(spelled, index_parts(sub.parts[0])))
        if len(names) != len(weights.shape):
            raise LatexError(f"expectation: expected {len(weights.shape)} indices before ∼, got {spelled(sub.parts[0])}")
        return weights, names
    if isinstance(sub, Product) and len(sub.factors) == 2 and isinstance(sub.factors[1], Bracket):
        meaning = reader.function(spelled(sub.factors[0]), sub.factors[1])
        if isinstance(meaning, Named):
            check_labels(reader, spelled(sub.factors[0]), meaning, parts(sub.factors[1].inside))
            return meaning.value, meaning.axes
    meaning = reader.meaning(spelled(sub))
    if isinstance(meaning, Named):
        return meaning.value, meaning.axes
    weights = reader.value(sub)
    if not weights.shape:
        raise LatexError(f"expectation: expected a distribution as subscript, got the number {spelled(sub)}")
    return weights, ("",) * len(weights.shape)


def _weighed(value: Value, over: Sequence[Variable], names: Sequence[str]) -> Value:
    """Return the averaged quantity: an expression in the bound indices, or a vector over the same range."""
    if any(names):
        return value
    if len(value.shape) >= len(over) and all(
        size in (None, each.domain.shape[0]) for size, each in zip(value.shape, over, strict=False)
    ):
        return Value(value.shape[len(over) :], lambda *positions: value.entry(*over, *positions))
    if not value.shape:
        sizes = [each.domain.shape[0] for each in over]
        free = [v for v in value.number.free_symbols if isinstance(v, Variable) and v.domain.is_index]
        if indices := [v for v in free if v.domain.shape[0] in sizes and "#" not in v.name]:
            raise LatexError(
                f"expectation: can be the mean over {indices[0]} or that of a number for one {indices[0]}; "
                f"expected {indices[0]} \\sim in the subscript"
            )
        return value
    raise LatexError(f"expectation: expected a vector over {over[0].domain.shape[0]}, got {value.words}")


# ── constants, norms, inner products ────────────────────────────────────────────────────────────────────────────────


CONSTANTS = {"ones": ONES, "zeros": ZEROS, "identity": IDENTITY}


def _constant(reader: Reader, operator: str, sub: Node | None, sup: Node | None) -> Value:
    value = CONSTANTS[operator]
    if sub is not None:
        size = reader.value(sub).number
        if not all(isinstance(v, Variable) and v.domain.is_size for v in size.free_symbols):
            raise LatexError(f"{operator}: expected a size as subscript, got {spelled(sub)}")
        value = Value((size,) * len(value.shape), value.entry)
    return reader.scripts(value, None, sup, operator)


def condition(node: Node | None) -> Chain | None:
    """The relation in {i = j} or [i = j], or below an indicator without brackets."""
    inside = node.inside if isinstance(node, Bracket) and node.kind in ("{}", "[]", "()") else node
    return inside if isinstance(inside, Chain) else None


def indicator(reader: Reader, chain: Chain) -> Value:
    """1[i = j] and 1[i ≠ j] of two indices."""
    if len(chain.signs) != 1 or chain.signs[0] not in ("=", "\\ne", "\\neq") or None in chain.parts:
        raise LatexError(f"indicator: expected i = j or i \\ne j, got {spelled(chain)}")
    one, other = (reader.subscript(part) for part in chain.parts if part is not None)
    same = coincide(one, other, spelled(chain))
    return scalar(same if chain.signs[0] == "=" else 1 - same)


def _delta(reader: Reader, sub: Node | None) -> Value:
    indices = [reader.subscript(part) for part in index_parts(sub)] if sub is not None else []
    if len(indices) != 2:
        raise LatexError(f"\\delta: expected two indices, got {spelled(sub) or 'none'}")
    return scalar(coincide(indices[0], indices[1], f"\\delta_{{{spelled(sub)}}}"))


def inner_product(reader: Reader, inside: Node) -> Value:
    """⟨a, b⟩ of two vectors or matrices of one shape."""
    if not isinstance(inside, Listing) or len(inside.parts) != 2:
        raise LatexError(f"inner product: expected ⟨a, b⟩, got {spelled(inside)}")
    one, other = map(reader.value, inside.parts)
    return inner(one, other)


def squared_norm(value: Value) -> Value:
    """Σ of the squares of all entries."""
    if not value.shape:
        raise LatexError("norm: expected a vector or a matrix, got a number")
    indices = tuple(map(bound, value.shape))
    return scalar(total(indices, value.entry(*indices) ** 2))


def norm_power(reader: Reader, bracket: Bracket, sub: Node | None, sup: Node | None) -> Value:
    """‖x‖², or another power; the Euclidean norm, also under the names 2 and F, and the sum of absolute values under 1."""
    name = spelled(sub)
    value = reader.value(bracket.inside)
    if isinstance(sup, Bracket):
        raise LatexError(f"{spelled(bracket)}: expected a power without parentheses, got {spelled(sup)}")
    if len(value.shape) == 2 and name != "F":
        raise LatexError(f"{spelled(bracket)}: expected a vector, or the name F, as the norm of a matrix has several meanings")
    power = reader.value(sup).number if sup is not None else sp.S.One
    if name == "1":
        indices = tuple(map(bound, value.shape))
        body = value.entry(*indices)
        return scalar(division.power(total(indices, positive_part(body) + positive_part(-body)), power))
    if name not in ("", "2", "F"):
        raise LatexError(f"norm: expected the Euclidean norm (no name, 2 or F) or that of absolute values (1), got {name}")
    return scalar(division.power(squared_norm(value).number, power / 2))


def extreme(reader: Reader, name: str, rest: list[Node]) -> Value:
    """max(a, b) and min(a, b) of two numbers, or entry by entry."""
    argument, after, power = _argument(name, rest)
    if after is not None or power is not None:
        raise LatexError(f"{name}: expected parentheses around it before {spelled(after or power)}")
    arguments = parts(argument)
    if len(arguments) != 2:
        raise LatexError(f"{name}: expected two arguments in parentheses, got {spelled(argument)}")
    one, other = map(reader.value, arguments)
    if name == "\\max":
        return entrywise(lambda a, b: b + positive_part(a - b), one, other, what=name)
    return entrywise(lambda a, b: a - positive_part(a - b), one, other, what=name)
