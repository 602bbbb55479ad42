"""Random statements: true ones by rewriting, false ones by one edit, and some of which nobody knows."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from fractions import Fraction

from tests.fuzz.grammar import Grammar, sign_of
from tests.fuzz.nodes import Node, entry, leaf, make, number, over
from tests.fuzz.rewriting import mutate, rewrite

Maker = Callable[[random.Random], Node]
ONE = leaf(1)
KINDS: dict[str, tuple[float, Maker]] = {}


def kind(weight: float) -> Callable[[Maker], Maker]:
    """Register a kind of statement with its share."""
    def register(function: Maker) -> Maker:
        KINDS[function.__name__] = (weight, function)
        return function

    return register


def statement(seed: str, kinds: Collection[str] = ()) -> tuple[str, Node]:
    """The kind and the tree of one statement, of one of the kinds where some are given."""
    rng = random.Random(seed)
    names = [name for name in KINDS if name in kinds or not kinds]
    chosen = rng.choices(names, [KINDS[name][0] for name in names])[0]
    return chosen, KINDS[chosen][1](rng)


def _of(template: str, *args: Node) -> Node:
    return Node("statement", args, template)


def _expression(rng: random.Random, sign: str | None = None, wild: bool = False) -> Node:
    return Grammar(rng, wild).of(sign or rng.choice(("real", "real", "nonnegative", "positive")), rng.choice((1, 2, 2, 3)))


def _equation(left: Node, right: Node) -> Node:
    return _of("Equation({}, {})", left, right)


@kind(22)
def rewritten_equation(rng: random.Random) -> Node:
    left = _expression(rng)
    return _equation(left, rewrite(left, rng, rng.randint(1, 5)))


@kind(6)
def wild_equation(rng: random.Random) -> Node:
    left = _expression(rng, wild=True)
    return _equation(left, rewrite(left, rng, rng.randint(1, 4)))


@kind(20)
def mutated_equation(rng: random.Random) -> Node:
    left = _expression(rng, wild=rng.random() < 0.15)
    return mutate(_equation(left, rewrite(left, rng, rng.randint(0, 3))), rng)


@kind(3)
def random_equation(rng: random.Random) -> Node:
    return _equation(_expression(rng, wild=True), _expression(rng, wild=True))


@kind(8)
def suspicious_identity(rng: random.Random) -> Node:
    """Identities of which each holds on some domain only."""
    signs, depth = ("real", "real", "nonnegative", "positive"), rng.choice((0, 0, 1, 2))
    first, second = (Grammar(rng, wild).of(rng.choice(signs), depth) for wild in (rng.random() < 0.3, False))
    root, square = (lambda u: make("sqrt", u)), (lambda u: make("pow", u, leaf(2)))
    half = number(Fraction(1, 2))
    makers = [
        lambda: _equation(make("log", make("mul", first, second)), make("add", make("log", first), make("log", second))),
        lambda: _equation(root(square(first)), first),
        lambda: _equation(square(root(first)), first),
        lambda: _equation(make("pow", square(first), half), make("abs", first)),
        lambda: _equation(make("log", square(first)), make("mul", leaf(2), make("log", first))),
        lambda: _equation(make("mul", root(first), root(second)), root(make("mul", first, second))),
        lambda: _equation(make("mul", first, make("div", second, first)), second),
        lambda: _equation(make("div", make("mul", first, second), second), first),
        lambda: _equation(make("exp", make("log", first)), first),
        lambda: _equation(make("xlogx", first), make("mul", first, make("log", first))),
        lambda: _equation(make("kl", first, second), make("add", make("mul", first, make("log", make("div", first, second))),
                                                          make("sub", second, first))),
        lambda: _equation(make("bregman", first, second, leaf(2)), make("div", square(make("sub", first, second)), leaf(2))),
        lambda: _equation(make("sub", make("plus", first), make("plus", make("neg", first))), first),
        lambda: _equation(make("abs", make("mul", first, second)), make("mul", make("abs", first), make("abs", second))),
        lambda: _equation(make("pow", make("pow", first, leaf("x")), leaf("v")), make("pow", first, leaf("x*v"))),
        lambda: _equation(make("pow", make("mul", first, second), leaf("x")),
                          make("mul", make("pow", first, leaf("x")), make("pow", second, leaf("x")))),
        lambda: _equation(make("mul", make("pow", first, leaf("x")), make("pow", first, make("neg", leaf("x")))), leaf(1)),
        lambda: _equation(make("sub", make("log", make("neg", first)), make("log", make("neg", make("mul", leaf(2), first)))),
                          make("neg", make("log", leaf(2)))),
        lambda: _equation(over("l", make("div", entry(*_at(rng, "l")), entry(*_at(rng, "l")))), leaf("m")),
        lambda: _equation(make("div", make("sub", square(first), square(second)), make("sub", first, second)), make("add", first, second)),
        lambda: _equation(make("add", make("div", ONE, first), make("div", ONE, second)),
                          make("div", make("add", first, second), make("mul", first, second))),
        lambda: _equation(make("add", make("div", first, make("add", first, second)), make("div", second, make("add", first, second))), ONE),
        *[lambda part=part: _equation(make("mul", part(first), make("add", second, leaf("v"))),
                                      make("add", make("mul", part(first), leaf("v")), make("mul", second, part(first))))
          for part in (root, lambda u: make("log", u), lambda u: make("div", ONE, u), lambda u: make("pow", u, leaf("x")),
                       lambda u: make("xlogx", u), lambda u: make("derivative", make("abs", u), leaf("x")))],
    ]
    return rng.choice(makers)()


def _at(rng: random.Random, name: str) -> tuple[str, str]:
    return rng.choice(("a", "q", "b", "r", "z", "u", "mu")), name


@kind(4)
def marginal_identity(rng: random.Random) -> Node:
    """Sums over entries of plans and simplices, right and wrong."""
    plan = rng.choice(("P", "G", "T", "R", "U", "U", "S"))
    columns = ["j", "l"] if plan in ("T", "U", "S") else ["h", "g"]
    row, column = rng.choice(("i", "j", "l", "k")), rng.choice(columns)
    summed = rng.choice((column, column, row, (row, column)))
    if plan in ("T", "U", "S") and rng.random() < 0.3:
        row, summed = column, column                         # a diagonal, or one from corner to corner
    first = make("reversed", leaf("m"), leaf(row)) if rng.random() < 0.4 else leaf(row)
    body = entry(plan, first, column)
    factor = Grammar(rng).real(0) if rng.random() < 0.3 else ONE
    bound = tuple(dict.fromkeys(summed)) if isinstance(summed, tuple) else (summed,)
    left = over(bound if len(bound) > 1 else bound[0], body if factor == ONE else make("mul", factor, body))
    rows = {"P": entry("q", first), "G": entry("u", first), "T": entry("q", first)}.get(plan, ONE)
    columns_of = {"P": entry("w", column), "G": entry("p", column), "T": entry("r", column)}.get(plan, ONE)
    sensible = ONE if len(bound) > 1 and plan not in ("R", "U") else leaf("m") if len(bound) > 1 else rows if bound == (column,) else columns_of
    right = sensible if rng.random() < 0.75 else rng.choice([entry("q", row), ONE, leaf("m"), entry("w", "h"), leaf("n")])
    return _equation(left, right if factor == ONE else make("mul", factor, right))


def _at_least(left: Node, right: Node, because: Node | None, strict: bool) -> Node:
    options = "".join((", because={}" if because is not None else "", ", strict=True" if strict else ""))
    return _of(f"AtLeast({{}}, {{}}{options})", left, right, *([because] if because is not None else []))


@kind(10)
def inequality(rng: random.Random) -> Node:
    """gap + R ≥ R with a gap that is nonnegative by construction."""
    gap = _expression(rng, rng.choice(("nonnegative", "positive")))
    rest = _expression(rng, "real") if rng.random() < 0.6 else leaf(0)
    hint = gap if rng.random() < 0.7 else None
    left = rewrite(gap, rng, rng.randint(0, 3))
    strict = sign_of(gap) == "positive" and rng.random() < 0.7
    return _at_least(make("add", left, rest), rest, hint, strict)


@kind(7)
def signed_product(rng: random.Random) -> Node:
    """Products and powers whose sign is to be read off: of numbers, entries, 1 − mass, logs, differences of sizes and indices."""
    grammar = Grammar(rng)
    atoms: list[Callable[[], Node]] = [
        lambda: grammar.real(0), lambda: grammar.positive(0), lambda: grammar.nonnegative(0), lambda: make("neg", grammar.positive(0)),
        lambda: make("sub", ONE, grammar.entry(["q", "r", "u", "S", "P", "R", "U", "T"])), lambda: make("log", grammar.positive(0)),
        lambda: make("xlogx", grammar.entry(["q", "u", "S", "P", "z"])), lambda: make("sub", leaf("m"), leaf(rng.choice("ijkl1"))),
        lambda: make("log", make("add", ONE, grammar.nonnegative(0))), lambda: make("sub", make("exp", grammar.nonnegative(0)), ONE),
        lambda: make("log", grammar.entry(["u", "w"])), lambda: make("sub", ONE, make("delta", leaf("i"), leaf(rng.choice("jkl")))),
        lambda: make("sub", leaf(2), make("add", grammar.entry(["q", "u"]), grammar.entry(["q", "r"]))),
        lambda: make("sub", ONE, make("add", entry("q", rng.choice("ij")), entry("q", rng.choice("jk")))),
        lambda: make("sub", ONE, make("pow", grammar.entry(["q", "S"]), leaf(2))),
        lambda: make("kl", grammar.entry(["q", "b", "u"]), grammar.entry(["b", "u"])), lambda: make("plus", grammar.real(0)),
        lambda: make("sub", make("abs", leaf("x")), leaf("x")), lambda: make("derivative", make("exp", leaf("x*y")), leaf("x")),
        lambda: make("tail", leaf("l"), grammar.entry(["b", "q"]), leaf(rng.choice("12")), leaf("m")),
    ]
    exponents = [ONE, ONE, ONE, leaf(2), leaf(3), number(Fraction(-1)), number(Fraction(1, 2)), leaf("m"), leaf("x"), leaf("2*m")]
    parts = []
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        atom, exponent = rng.choice(atoms)(), rng.choice(exponents)
        part = atom if exponent == ONE else make("pow", atom, exponent)
        parts.append(over(rng.choice(("l", "k", "j", "h")), part) if rng.random() < 0.25 else part)
    gap = parts[0]
    for part in parts[1:]:
        gap = make(rng.choice(("mul", "mul", "add")), gap, part)
    sides = (gap, leaf(0)) if rng.random() < 0.8 else (leaf(0), gap)
    return _at_least(*sides, gap if rng.random() < 0.2 else None, rng.random() < 0.35)


@kind(9)
def mutated_inequality(rng: random.Random) -> Node:
    return mutate(inequality(rng), rng)


@kind(6)
def wild_inequality(rng: random.Random) -> Node:
    """Whatever the kernel takes for a sign may be wrong here."""
    gap, rest = _expression(rng, rng.choice(("nonnegative", "positive", "real")), wild=True), _expression(rng, "real")
    choice = rng.random()
    if choice < 0.2:
        gap = make("pow", over("l", make("sqrt", gap)), leaf(2))
    elif choice < 0.4:
        gap = make("pow", make("derivative", gap, Grammar(rng).variable()), leaf(2))
    elif choice < 0.5:
        gap = make("div", gap, leaf("m"))
    left = make("add", rewrite(gap, rng, rng.randint(0, 2)), rest) if rng.random() < 0.6 else _expression(rng, "real")
    return _at_least(left, rest, gap if rng.random() < 0.7 else None, rng.random() < 0.4)


@kind(4)
def hypothetical(rng: random.Random) -> Node:
    """Statements that need their hypotheses, with the right ones, weaker ones or none."""
    name = rng.choice([leaf("x"), leaf("v"), entry("a", "j"), make("sub", leaf("x"), leaf("v")), make("sub", entry("a", "i"), entry("a", "j")),
                       over("l", entry("a", "l"))])
    rest = _expression(rng, rng.choice(("real", "nonnegative", "positive")))
    facts = ["AtLeast({0}, 0)", "AtLeast({0}, 0, strict=True)", "Differs({0}, 0)", "AtLeast({0}, 1)", "AtLeast(0, {0})", "AtLeast({0}, s)",
             "Differs({0}, 1)", "AtLeast({0}, y)"]
    given = [rng.choice(facts) for _ in range(rng.choice((1, 1, 2)))]
    conclusions = ["Equation({0}*({1})/sp.S({0}), {1}, given=({2},))", "Equation(sp.log({0}**2), 2*sp.log({0}), given=({2},))",
                   "Equation(sp.sqrt(({0})**2), {0}, given=({2},))", "Equation(sp.sqrt(sp.S({0}))**2, {0} + 0*({1}), given=({2},))",
                   "AtLeast({0} + ({1}), {1}, given=({2},))", "AtLeast({0} + ({1}), {1}, strict=True, given=({2},))",
                   "AtLeast({0}*({1})**2, 0, given=({2},))", "AtLeast(sp.S({0})**3 + ({1})**2, 0, given=({2},))", "Differs({0}, 0, given=({2},))",
                   "AtLeast(2*({0}) + y, 1, given=({2},))", "AtLeast(({0})*(v + ({1})), 0, given=({2}, AtLeast(v, 0)))",
                   "AtLeast(sp.log(1 + ({0})**2), 0, strict=True, given=({2},))", "AtLeast(sp.exp({0}), 1 + 0*({1}), given=({2},))",
                   "Limit({0}*t/(({0})*t + 1), t, sp.oo, 1, given=({2},))", "Limit(({0})*t/(({0})**2*t + 1), t, sp.oo, 1/sp.S({0}), given=({2},))",
                   "Equation(({1})/sp.S({0})**2 + 1/sp.S(1 + {0}), ({1} + ({0})**2/sp.S(1 + {0}))/sp.S({0})**2, given=({2},))",
                   "Equation(sp.Abs({0}), {0}, given=({2},))", "Equation(plus({0}), {0}, given=({2},))", "AtLeast(xlogx({0}), 0, given=({2},))"]
    text = rng.choice(conclusions).replace("{2}", ", ".join(given))
    node = _of(text, name, rest)
    return mutate(node, rng) if rng.random() < 0.3 else node


@kind(2)
def pinned(rng: random.Random) -> Node:
    """A statement whose refutation is to be looked for at given values, in the domain or outside of it."""
    first, second = _expression(rng), _expression(rng, "real")
    values = ["{x: 0}", "{y: 1}", "{y: 0}", "{y: -1}", "{m: 2}", "{m: 0}", "{m: 1, j: 1}", "{q.label: [1, 0]}", "{q.label: [1, 1]}", "{u.label: [1, 0]}",
              "{a.label: [0, 1], m: 3}", "{k: 1, j: 1}", "{k: 2, j: 1, m: 2}", "{mu.label: [1, 1], q.label: [1, 0]}", "{mu.label: [0, 1], q.label: [1, 0]}",
              "{P.label: [[1, 0], [0, 0]], q.label: [1, 0], w.label: [1, 0]}", "{x: sp.Rational(1, 3)}", "{v: 10**9, x: -1}", "{s: -1}", "{a: 1}",
              "{q.label: [sp.Rational(1, 2), sp.Rational(1, 2)], m: 2}", "{R.label: [[1, 1]]}", "{h: 3, n: 2}", "{j: 2}"]
    relation = rng.choice(("Equation({}, {}, at=%s)", "AtLeast({}, {}, at=%s)"))
    return _of(relation % rng.choice(values).replace("{", "{{").replace("}", "}}"), first, rewrite(first, rng, 2) if rng.random() < 0.3 else second)


@kind(3)
def consequence(rng: random.Random) -> Node:
    """A nonnegative combination of premises implies the combination of their sides."""
    sides = [(_expression(rng, "real"), _expression(rng, "real")) for _ in range(rng.randint(1, 2))]
    weights = [_expression(rng, rng.choice(("nonnegative", "positive"))) if rng.random() < 0.5 else leaf(1) for _ in sides]
    premises = [_of("AtLeast({}, {})", *pair) for pair in sides]
    left, right = weights[0], weights[0]
    for at, (weight, (high, low)) in enumerate(zip(weights, sides, strict=True)):
        gap = make("mul", weight, high), make("mul", weight, low)
        left, right = gap if at == 0 else (make("add", left, gap[0]), make("add", right, gap[1]))
    conclusion = _of("AtLeast({}, {})", rewrite(left, rng, rng.randint(0, 2)), right)
    names = "({},)" if len(sides) == 1 else "({}, {})"
    node = _of(f"Follows({names}, {{}}, {names})", *premises, conclusion, *weights)
    return mutate(node, rng) if rng.random() < 0.5 else node


@kind(3)
def strict_unless_equal(rng: random.Random) -> Node:
    """Convexity: two divergences from the middle, of entries."""
    first, second, third = (entry(rng.choice(("b", "u", "b")), name) for name in ("i", "j", "l"))
    weights = [leaf(rng.choice(("y", "t", "2", "1"))) for _ in range(2)]
    parts = [make("mul", weight, make("kl", end, third)) for weight, end in zip(weights, (first, second), strict=True)]
    rest = _expression(rng, "real")
    node = _of("StrictUnlessEqual({}, {}, {}, {}, {}, ({}, {}))", make("add", rewrite(make("add", *parts), rng, rng.randint(0, 3)), rest),
               rest, first, second, third, *weights)
    return mutate(node, rng) if rng.random() < 0.5 else node


LIMITS = [
    ("(x*t**2 + v)/(t**2 + 1)", "sp.oo", "x"), ("x*t/(t + y)", "sp.oo", "x"), ("x*t/(x*t + 1)", "sp.oo", "1"),
    ("x*t/(x**2*t + 1)", "sp.oo", "1/x"), ("(x - v)*t/((x - v)*t + 1)", "sp.oo", "1"), ("sp.exp(-y*t)", "sp.oo", "0"),
    ("sp.exp(x*t)/(sp.exp(x*t) + sp.exp(v*t))", "sp.oo", "1/sp.S(2)"), ("t*sp.log(sp.exp(x/t) + 1)", "sp.oo", "sp.oo"),
    ("t*sp.log(1 + y/t)", "sp.oo", "y"), ("(sp.exp(x*t) - 1)/t", "0", "x"), ("sp.log(1 + y*t)/t", "0", "y"),
    ("(y**t - 1)/t", "0", "sp.log(y)"), ("t*sp.log(t)", "0", "0"), ("xlogx(t)", "0", "0"), ("t**y", "0", "0"), ("t**x", "0", "0"),
    ("(x*t + s)/(t + s)", "0", "1"), ("s/(t + s)", "0", "1"), ("t/(t + s)", "0", "0"), ("(1 + x/t)**2", "sp.oo", "1"),
    ("sp.sqrt(t**2 + x*t + 10*x**2 + 1) - t", "sp.oo", "x/2"), ("t*kl(1 + y/t, 1)", "sp.oo", "0"), ("t**2*kl(1 + y/t, 1)", "sp.oo", "y**2/2"),
    ("(x - 5)**2*t/((x - 5)**2*t + 1)", "sp.oo", "1"), ("plus(x*t)/t", "sp.oo", "plus(x)"), ("sp.Abs(x*t - v)/t", "sp.oo", "sp.Abs(x)"),
    ("(m*t + 1)/(t + m)", "sp.oo", "m"), ("(m - 1)*t/((m - 1)*t + 1)", "sp.oo", "1"), ("(m - 5)**2*t/((m - 5)**2*t + 1)", "sp.oo", "1"),
    ("a[j]*t/(t + 1)", "sp.oo", "a[j]"), ("a[j]*t/(a[j]*t + 1)", "sp.oo", "1"), ("(a[i] - a[j])*t/((a[i] - a[j])*t + 1)", "sp.oo", "1"),
    ("sp.exp(a[j]*t)/(sp.exp(a[j]*t) + sp.exp(a[i]*t))", "0", "1/sp.S(2)"), ("x/t", "sp.oo", "0"), ("x*y*t/(t + y)", "sp.oo", "x*y"),
    ("(y*t + x)/(theta*t + v**2 + 1)", "sp.oo", "y/theta"), ("(x*t + 1)/(v*t + 1)", "sp.oo", "x/v"), ("(x*t + 1)/(v*t + 1)", "0", "1"),
    ("total(l, a[l]*t)/t", "sp.oo", "total(l, a[l])"), ("total(l, sp.exp(-b[l]*t))", "sp.oo", "0"), ("t*total(l, q[l])/(t + 1)", "sp.oo", "1"),
    ("total(l, sp.exp(a[l]*t))", "0", "m"), ("sp.exp(a[j]*t)/total(l, sp.exp(a[l]*t))", "0", "1/m"), ("delta(i, j)*t/(t + 1)", "sp.oo", "delta(i, j)"),
]


@kind(4)
def limit(rng: random.Random) -> Node:
    """A limit of the table, with an edit or an affine change as a rule."""
    text, to, value = rng.choice(LIMITS)
    expr, claimed = leaf(f"({text})"), leaf(f"sp.S({value})")
    if "oo" not in value and rng.random() < 0.6:
        shift, scale = Grammar(rng).real(rng.choice((0, 1))), rng.choice([leaf("v"), leaf("y"), leaf(2), entry("a", "j")])
        if "t" not in shift.free | scale.free:
            expr, claimed = make("add", make("mul", scale, expr), shift), make("add", make("mul", scale, claimed), shift)
    if rng.random() < 0.3:
        claimed = mutate(claimed, rng)
    node = _of(f"Limit({{}}, t, {to}, {{}})", expr, claimed)
    if rng.random() < 0.3:
        renamed = rng.choice([("x", "v"), ("v", "x"), ("y", "x"), ("y", "s"), ("s", "x"), ("b[", "a["), ("i", "j")])
        node = node.map_leaves(lambda part: part.replace(*renamed) if part.startswith("(") and "sp" not in part else part)
    return node


EXPANSIONS = [
    ("sp.exp(x*t)", ["1", "x", "x**2/2", "x**3/6"]), ("sp.log(1 + y*t)", ["0", "y", "-y**2/2", "y**3/3"]),
    ("1/(1 + x*t)", ["1", "-x", "x**2", "-x**3"]), ("sp.sqrt(1 + x*t)", ["1", "x/2", "-x**2/8", "x**3/16"]),
    ("(y + t)**x", ["y**x", "x*y**(x - 1)", "x*(x - 1)*y**(x - 2)/2"]), ("xlogx(1 + t)", ["0", "1", "1/sp.S(2)", "-1/sp.S(6)"]),
    ("total(l, sp.exp(a[l]*t))", ["m", "total(l, a[l])", "total(l, a[l]**2)/2"]),
    ("sp.log(total(l, sp.exp(a[l]*t)))", ["sp.log(m)", "total(l, a[l])/m", "(total(l, a[l]**2)/m - total(l, a[l])**2/m**2)/2"]),
    ("sp.exp(a[j]*t)/total(l, sp.exp(a[l]*t))", ["1/m", "(a[j] - total(l, a[l])/m)/m"]),
    ("kl(1 + t, 1)", ["0", "0", "1/sp.S(2)", "-1/sp.S(6)"]), ("(x + t)**3", ["x**3", "3*x**2", "3*x", "1"]),
    ("total(l, u[l]*sp.exp(a[l]*t))", ["1", "total(l, u[l]*a[l])", "total(l, u[l]*a[l]**2)/2"]),
    ("sp.Abs(x + t)", ["sp.Abs(x)", "1"]), ("plus(y + t)", ["y", "1"]), ("(s + t)**2", ["s**2", "2*s", "1"]), ("total(l, (z[l] + t)**2)", ["total(l, z[l]**2)", "2*total(l, z[l])", "m"]),
]


@kind(3)
def expansion(rng: random.Random) -> Node:
    """A Taylor polynomial of the table, times or plus another expression, with a wrong coefficient now and then."""
    text, coefficients = rng.choice(EXPANSIONS)
    order = rng.randint(0, len(coefficients) - 1)
    series = leaf("(" + " + ".join(f"sp.S({one})*t**{k}" for k, one in enumerate(coefficients[: order + 1])) + ")")
    left, factor = leaf(f"({text})"), Grammar(rng).real(rng.choice((0, 1)))
    if "t" not in factor.free and rng.random() < 0.6:
        left, series = make("mul", factor, left), make("mul", factor, series)
    node = _of("Expansion({}, {}, t, {})", left, rewrite(series, rng, rng.randint(0, 2)), leaf(order))
    if rng.random() < 0.5:
        edited = mutate(series, rng) if series.op != "leaf" else make("add", series, make("mul", leaf("x"), leaf(f"t**{order}")))
        node = _of("Expansion({}, {}, t, {})", left, edited, leaf(order))
    return node


@kind(2)
def unique_minimum(rng: random.Random) -> Node:
    """KL-regularized linear objectives with their softmax, and wrong candidates, factors and objectives."""
    score = rng.choice(["a[{0}]", "(a[{0}] + x)", "B[{0}, j]", "x*d[{0}]", "(a[{0}] - d[{0}])", "z[{0}]"])
    factor = rng.choice(["y", "2", "t*y", "n", "sp.Rational(1, 3)", "m", "(y + s)"])
    prior = rng.choice([None, "u", "u"])
    entropy = "total(l, kl(p(l), u[l]))" if prior else "total(l, xlogx(p(l)))"
    weight = f"sp.exp({score}/({factor}))" if prior is None else f"u[{{0}}]*sp.exp({score}/({factor}))"
    candidate = f"{weight.format('i')}/total(l, {weight.format('l')})"
    constant = rng.choice(["0", "v", "total(l, a[l])", "sp.log(y)", "x*total(l, p(l))"])
    texts = [f"({factor})*{entropy} - total(l, p(l)*{score.format('l')}) + {constant}", f"({candidate})", f"sp.S({factor})"]
    if rng.random() < 0.5:
        at = rng.randrange(3)
        edits = [("y", "t"), ("a[", "d["), ("exp(", "exp(2*"), ("u[", "q["), (" - ", " + "), ("total(l", "total(k"), ("xlogx(", "sp.exp("),
                 ("p(l)", "p(l)**2"), ("sp.S(", "2*sp.S("), ("sp.S(", "-sp.S("), ("/total", "*2/total"), ("l, p", "l, 2*p"), ("u[", "r["),
                 ("/(", "/(1 + ")]
        usable = [edit for edit in edits if edit[0] in texts[at]]
        texts[at] = texts[at].replace(*rng.choice(usable), 1) if usable else texts[at]
    return _of("UniqueMinimum(lambda p: {}, lambda i: {}, m, {})", *map(leaf, texts))


@kind(1)
def sparse_minimum(rng: random.Random) -> Node:
    """The Euclidean projection of a point of the simplex is the point."""
    objective = rng.choice(["total(l, (p(l) - q[l])**2)/2", "total(l, p(l)**2)/2 - total(l, p(l)*q[l])", "y*total(l, bregman(p(l), q[l], sp.S(2)))",
                            "total(l, p(l)**2)/2", "total(l, (p(l) - r[l])**2)/2", "total(l, (p(l) - a[l])**2)/2"])
    candidate = rng.choice(["q[i]", "q[i]", "r[i]", "1/m", "u[i]"])
    factor = "y" if objective.startswith("y") else "sp.S(1)"
    return _of("UniqueMinimum(lambda p: {}, lambda i: sp.S({}), m, {}, alpha=sp.S(2))", leaf(objective), leaf(candidate), leaf(rng.choice((factor, factor, "y", "sp.S(2)"))))


@kind(0.7)
def unique_plan(rng: random.Random) -> Node:
    """The row-wise softmax among the plans with unit rows."""
    factor = rng.choice(["y", "2", "t"])
    weight = rng.choice(["C[{0}, {1}]", "(C[{0}, {1}] + a[{0}])", "x*c[{1}]"])
    texts = [f"({factor})*total((l, g), xlogx(p(l, g))) - total((l, g), p(l, g)*{weight.format('l', 'g')})",
             f"sp.exp({weight.format('i', 'h')}/({factor}))/total(g, sp.exp({weight.format('i', 'g')}/({factor})))", f"sp.S({factor})"]
    if rng.random() < 0.5:
        at = rng.randrange(3)
        edits = [("y", "t"), ("exp(", "exp(2*"), (" - ", " + "), ("(l, g)", "(g, l)"), ("total(g", "2*total(g"), ("sp.S(", "2*sp.S("), ("C[i", "C[1")]
        usable = [edit for edit in edits if edit[0] in texts[at]]
        texts[at] = texts[at].replace(*rng.choice(usable), 1) if usable else texts[at]
    return _of("UniquePlan(lambda p: {}, lambda i, h: {}, m, n, {})", *map(leaf, texts))
