"""Inequalities, consequences, and statements that need hypotheses or are pinned to a point."""

import random
from collections.abc import Callable
from fractions import Fraction

from tests.fuzz.grammar import Grammar, sign_of
from tests.fuzz.kinds import expression, kind, vanishing, written
from tests.fuzz.mutation import mutate
from tests.fuzz.nodes import Node, axis, entry, leaf, make, number, over
from tests.fuzz.rewriting import ONE, rewrite


def _at_least(left: Node, right: Node, because: Node | None, strict: bool) -> Node:
    options = "".join((", because={}" if because is not None else "", ", strict=True" if strict else ""))
    return written(f"AtLeast({{}}, {{}}{options})", left, right, *([because] if because is not None else []))


@kind(10)
def inequality(rng: random.Random) -> Node:
    """gap + R ≥ R with a gap that is nonnegative by construction."""
    gap = expression(rng, rng.choice(("nonnegative", "positive")))
    rest = expression(rng, "real") if rng.random() < 0.6 else leaf(0)
    hint = gap if rng.random() < 0.7 else None
    left = rewrite(gap, rng, rng.randint(0, 3))
    strict = sign_of(gap) == "positive" and rng.random() < 0.7
    return _at_least(make("add", left, rest), rest, hint, strict)


@kind(7)
def signed_product(rng: random.Random) -> Node:
    """Products and powers with a sign that can be read off: of entries, 1 − mass, logs, sizes minus indices."""
    grammar = Grammar(rng)
    atoms: list[Callable[[], Node]] = [
        lambda: grammar.real(0),
        lambda: grammar.positive(0),
        lambda: grammar.nonnegative(0),
        lambda: make("neg", grammar.positive(0)),
        lambda: make("sub", ONE, grammar.entry(["q", "r", "u", "S", "P", "R", "U", "T"])),
        lambda: make("log", grammar.positive(0)),
        lambda: make("xlogx", grammar.entry(["q", "u", "S", "P", "z"])),
        lambda: make("sub", leaf("m"), leaf(rng.choice("ijkl1"))),
        lambda: make("log", make("add", ONE, grammar.nonnegative(0))),
        lambda: make("sub", make("exp", grammar.nonnegative(0)), ONE),
        lambda: make("log", grammar.entry(["u", "w"])),
        lambda: make("sub", ONE, make("delta", leaf("i"), leaf(rng.choice("jkl")))),
        lambda: make("sub", leaf(2), make("add", grammar.entry(["q", "u"]), grammar.entry(["q", "r"]))),
        lambda: make("sub", ONE, make("add", entry("q", rng.choice("ij")), entry("q", rng.choice("jk")))),
        lambda: make("sub", ONE, make("pow", grammar.entry(["q", "S"]), leaf(2))),
        lambda: make("kl", grammar.entry(["q", "b", "u"]), grammar.entry(["b", "u"])),
        lambda: make("plus", grammar.real(0)),
        lambda: make("sub", make("abs", leaf("x")), leaf("x")),
        lambda: make("derivative", make("exp", leaf("x*y")), leaf("x")),
        lambda: make("tail", leaf("l"), grammar.entry(["b", "q"]), leaf(rng.choice("12")), leaf("m")),
    ]
    exponents = [
        ONE,
        ONE,
        ONE,
        leaf(2),
        leaf(3),
        number(Fraction(-1)),
        number(Fraction(1, 2)),
        leaf("m"),
        leaf("x"),
        leaf("2*m"),
    ]
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


@kind(6)
def function_of_a_sum(rng: random.Random) -> Node:
    """S f(S) against Σ r f(r) with S = Σ r, in both directions, and as bounds of a limit: most are false from two terms on."""
    name, another = rng.choice(("ll", "lh", "hh", "lk"))
    body = rng.choice(_summands(name))
    total = over(name, body)
    function = rng.choice(_functions(total, rng))
    of_sum, of_terms = make("mul", total, function(total)), over(name, make("mul", body, function(body)))
    if rng.random() < 0.3:
        second = over(another, rng.choice(_summands(another)))
        of_sum, of_terms = make("mul", second, of_sum), make("mul", second, of_terms)
    if rng.random() < 0.3:
        rest = expression(rng, "real")
        of_sum, of_terms = make("add", of_sum, rest), make("add", of_terms, rest)
    if rng.random() < 0.4:
        factor = vanishing(rng, axis(name))
        of_sum, of_terms = make("mul", factor, of_sum), make("mul", factor, of_terms)
    if rng.random() < 0.25:
        return written("Limit({0} + 1/t, t, sp.oo, {1}, between=({1} + 1/t, {1} + 1/t))", of_terms, of_sum)
    return _at_least(*rng.sample((of_sum, of_terms), 2), None, rng.random() < 0.3)


@kind(6)
def means(rng: random.Random) -> Node:
    """Σ w f(r) against f(Σ w r), times m, Σ w or y, for weights of every kind: Jensen's inequality or a false one."""
    weight, body = rng.choice([ONE, *(entry(letter, "l") for letter in "abzuqr")]), rng.choice(_summands("l"))
    mean = over("l", make("mul", weight, body))
    function = rng.choice(
        [
            *_functions(mean, rng)[:4],
            lambda r: make("pow", r, leaf(rng.choice("234"))),
            lambda r: make("log", r),
            lambda r: make("div", ONE, r),
            lambda r: make("xlogx", r),
            lambda r: make("sqrt", r),
        ]
    )
    of_terms, of_mean = over("l", make("mul", weight, function(body))), function(mean)
    if rng.random() < 0.4:
        of_terms = make("mul", rng.choice((leaf("m"), over("l", weight), leaf("y"))), of_terms)
    if rng.random() < 0.2:
        of_terms, of_mean = make("div", of_terms, leaf("m")), function(make("div", mean, leaf("m")))
    return _at_least(*rng.sample((of_terms, of_mean), 2), None, rng.random() < 0.2)


def _summands(name: str) -> list[Node]:
    letters = {"l": "abzduq", "k": "abzduq", "h": "cwp"}[name]
    return [part for letter in letters for part in (entry(letter, name), make("mul", leaf("y"), entry(letter, name)))]


def _functions(total: Node, rng: random.Random) -> list[Callable[[Node], Node]]:
    square = leaf(2)
    return [
        lambda r: make("exp", make("neg", r)),
        lambda r: make("exp", r),
        lambda r: make("abs", r),
        lambda r: make("plus", r),
        lambda r: make("sqrt", make("add", ONE, make("pow", r, square))),
        lambda r: make("sqrt", make("abs", r)),
        lambda r: make("div", ONE, make("add", ONE, make("abs", r))),
        lambda r: make("div", ONE, make("add", ONE, make("pow", r, square))),
        lambda r: make("div", ONE, make("add", ONE, make("exp", make("neg", r)))),
        lambda r: make("log", make("add", ONE, make("exp", r))),
        lambda r: make("exp", make("neg", make("add", r, total))),
        lambda r: make("pow", make("add", ONE, make("abs", r)), rng.choice((leaf("x"), number(Fraction(-1, 2))))),
    ]


@kind(4)
def vanishing_at_small_sizes(rng: random.Random) -> Node:
    """Both sides of a statement, mostly a false one, times what hides it at small sizes."""
    factor, makers = vanishing(rng, rng.choice("mn")), (mutated_inequality, signed_product, wild_inequality)
    node = rng.choice(makers)(rng)
    return Node(node.op, tuple(make("mul", factor, side) for side in node.args), node.text)


@kind(9)
def mutated_inequality(rng: random.Random) -> Node:
    return mutate(inequality(rng), rng)


@kind(6)
def wild_inequality(rng: random.Random) -> Node:
    """An inequality that need not have the sign that the kernel may see in it."""
    gap, rest = expression(rng, rng.choice(("nonnegative", "positive", "real")), wild=True), expression(rng, "real")
    choice = rng.random()
    if choice < 0.2:
        gap = make("pow", over("l", make("sqrt", gap)), leaf(2))
    elif choice < 0.4:
        gap = make("pow", make("derivative", gap, Grammar(rng).variable()), leaf(2))
    elif choice < 0.5:
        gap = make("div", gap, leaf("m"))
    left = make("add", rewrite(gap, rng, rng.randint(0, 2)), rest) if rng.random() < 0.6 else expression(rng, "real")
    return _at_least(left, rest, gap if rng.random() < 0.7 else None, rng.random() < 0.4)


@kind(4)
def hypothetical(rng: random.Random) -> Node:
    """Statements with the hypotheses that they need, with weaker ones or with none."""
    name = rng.choice(
        [
            leaf("x"),
            leaf("v"),
            entry("a", "j"),
            make("sub", leaf("x"), leaf("v")),
            make("sub", entry("a", "i"), entry("a", "j")),
            over("l", entry("a", "l")),
        ]
    )
    rest = expression(rng, rng.choice(("real", "nonnegative", "positive")))
    facts = [
        "AtLeast({0}, 0)",
        "AtLeast({0}, 0, strict=True)",
        "Differs({0}, 0)",
        "AtLeast({0}, 1)",
        "AtLeast(0, {0})",
        "AtLeast({0}, s)",
        "Differs({0}, 1)",
        "AtLeast({0}, y)",
    ]
    facts_chosen = [rng.choice(facts) for _ in range(rng.choice((1, 1, 2)))]
    conclusions = [
        "Equation({0}*({1})/sp.S({0}), {1}, given=({2},))",
        "Equation(sp.log({0}**2), 2*sp.log({0}), given=({2},))",
        "Equation(sp.sqrt(({0})**2), {0}, given=({2},))",
        "Equation(sp.sqrt(sp.S({0}))**2, {0} + 0*({1}), given=({2},))",
        "AtLeast({0} + ({1}), {1}, given=({2},))",
        "AtLeast({0} + ({1}), {1}, strict=True, given=({2},))",
        "AtLeast({0}*({1})**2, 0, given=({2},))",
        "AtLeast(sp.S({0})**3 + ({1})**2, 0, given=({2},))",
        "Differs({0}, 0, given=({2},))",
        "AtLeast(2*({0}) + y, 1, given=({2},))",
        "AtLeast(({0})*(v + ({1})), 0, given=({2}, AtLeast(v, 0)))",
        "AtLeast(sp.log(1 + ({0})**2), 0, strict=True, given=({2},))",
        "AtLeast(sp.exp({0}), 1 + 0*({1}), given=({2},))",
        "Limit({0}*t/(({0})*t + 1), t, sp.oo, 1, given=({2},))",
        "Limit(({0})*t/(({0})**2*t + 1), t, sp.oo, 1/sp.S({0}), given=({2},))",
        "Equation(({1})/sp.S({0})**2 + 1/sp.S(1 + {0}), ({1} + ({0})**2/sp.S(1 + {0}))/sp.S({0})**2, given=({2},))",
        "Equation(sp.Abs({0}), {0}, given=({2},))",
        "Equation(plus({0}), {0}, given=({2},))",
        "AtLeast(xlogx({0}), 0, given=({2},))",
    ]
    text = rng.choice(conclusions).replace("{2}", ", ".join(facts_chosen))
    node = written(text, name, rest)
    return mutate(node, rng) if rng.random() < 0.3 else node


@kind(2)
def pinned(rng: random.Random) -> Node:
    """A statement whose refutation is searched for at fixed values, in the domain or outside of it."""
    first, second = expression(rng), expression(rng, "real")
    values = [
        "{x: 0}",
        "{y: 1}",
        "{y: 0}",
        "{y: -1}",
        "{m: 2}",
        "{m: 0}",
        "{m: 1, j: 1}",
        "{q.label: [1, 0]}",
        "{q.label: [1, 1]}",
        "{u.label: [1, 0]}",
        "{a.label: [0, 1], m: 3}",
        "{k: 1, j: 1}",
        "{k: 2, j: 1, m: 2}",
        "{mu.label: [1, 1], q.label: [1, 0]}",
        "{mu.label: [0, 1], q.label: [1, 0]}",
        "{P.label: [[1, 0], [0, 0]], q.label: [1, 0], w.label: [1, 0]}",
        "{x: sp.Rational(1, 3)}",
        "{v: 10**9, x: -1}",
        "{s: -1}",
        "{a: 1}",
        "{q.label: [sp.Rational(1, 2), sp.Rational(1, 2)], m: 2}",
        "{R.label: [[1, 1]]}",
        "{h: 3, n: 2}",
        "{j: 2}",
    ]
    relation = rng.choice(("Equation({}, {}, at=%s)", "AtLeast({}, {}, at=%s)"))
    return written(
        relation % rng.choice(values).replace("{", "{{").replace("}", "}}"),
        first,
        rewrite(first, rng, 2) if rng.random() < 0.3 else second,
    )


@kind(3)
def consequence(rng: random.Random) -> Node:
    """A nonnegative combination of premises implies the combination of their sides."""
    sides = [(expression(rng, "real"), expression(rng, "real")) for _ in range(rng.randint(1, 2))]
    weights = [expression(rng, rng.choice(("nonnegative", "positive"))) if rng.random() < 0.5 else leaf(1) for _ in sides]
    premises = [written("AtLeast({}, {})", *pair) for pair in sides]
    left, right = weights[0], weights[0]
    for at, (weight, (high, low)) in enumerate(zip(weights, sides, strict=True)):
        gap = make("mul", weight, high), make("mul", weight, low)
        left, right = gap if at == 0 else (make("add", left, gap[0]), make("add", right, gap[1]))
    conclusion = written("AtLeast({}, {})", rewrite(left, rng, rng.randint(0, 2)), right)
    names = "({},)" if len(sides) == 1 else "({}, {})"
    node = written(f"Follows({names}, {{}}, {names})", *premises, conclusion, *weights)
    return mutate(node, rng) if rng.random() < 0.5 else node


@kind(3)
def strict_unless_equal(rng: random.Random) -> Node:
    """Convexity: two divergences from the middle, of entries."""
    first, second, third = (entry(rng.choice(("b", "u", "b")), name) for name in ("i", "j", "l"))
    weights = [leaf(rng.choice(("y", "t", "2", "1"))) for _ in range(2)]
    parts = [make("mul", weight, make("kl", end, third)) for weight, end in zip(weights, (first, second), strict=True)]
    rest = expression(rng, "real")
    node = written(
        "StrictUnlessEqual({}, {}, {}, {}, {}, ({}, {}))",
        make("add", rewrite(make("add", *parts), rng, rng.randint(0, 3)), rest),
        rest,
        first,
        second,
        third,
        *weights,
    )
    return mutate(node, rng) if rng.random() < 0.5 else node
