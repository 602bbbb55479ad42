"""Limits, expansions and minimization problems: tables of true ones, with edits."""

import random
import re
from functools import partial

from tests.fuzz.grammar import Grammar
from tests.fuzz.kinds import kind, written
from tests.fuzz.mutation import mutate
from tests.fuzz.nodes import Node, entry, leaf, make, over
from tests.fuzz.rewriting import ONE, rewrite

LIMITS = [
    ("(x*t**2 + v)/(t**2 + 1)", "sp.oo", "x"),
    ("x*t/(t + y)", "sp.oo", "x"),
    ("x*t/(x*t + 1)", "sp.oo", "1"),
    ("x*t/(x**2*t + 1)", "sp.oo", "1/x"),
    ("(x - v)*t/((x - v)*t + 1)", "sp.oo", "1"),
    ("sp.exp(-y*t)", "sp.oo", "0"),
    ("sp.exp(x*t)/(sp.exp(x*t) + sp.exp(v*t))", "sp.oo", "1/sp.S(2)"),
    ("t*sp.log(sp.exp(x/t) + 1)", "sp.oo", "sp.oo"),
    ("t*sp.log(1 + y/t)", "sp.oo", "y"),
    ("(sp.exp(x*t) - 1)/t", "0", "x"),
    ("sp.log(1 + y*t)/t", "0", "y"),
    ("(y**t - 1)/t", "0", "sp.log(y)"),
    ("t*sp.log(t)", "0", "0"),
    ("xlogx(t)", "0", "0"),
    ("t**y", "0", "0"),
    ("t**x", "0", "0"),
    ("(x*t + s)/(t + s)", "0", "1"),
    ("s/(t + s)", "0", "1"),
    ("t/(t + s)", "0", "0"),
    ("(1 + x/t)**2", "sp.oo", "1"),
    ("sp.sqrt(t**2 + x*t + 10*x**2 + 1) - t", "sp.oo", "x/2"),
    ("t*kl(1 + y/t, 1)", "sp.oo", "0"),
    ("t**2*kl(1 + y/t, 1)", "sp.oo", "y**2/2"),
    ("(x - 5)**2*t/((x - 5)**2*t + 1)", "sp.oo", "1"),
    ("plus(x*t)/t", "sp.oo", "plus(x)"),
    ("sp.Abs(x*t - v)/t", "sp.oo", "sp.Abs(x)"),
    ("(m*t + 1)/(t + m)", "sp.oo", "m"),
    ("(m - 1)*t/((m - 1)*t + 1)", "sp.oo", "1"),
    ("(m - 5)**2*t/((m - 5)**2*t + 1)", "sp.oo", "1"),
    ("a[j]*t/(t + 1)", "sp.oo", "a[j]"),
    ("a[j]*t/(a[j]*t + 1)", "sp.oo", "1"),
    ("(a[i] - a[j])*t/((a[i] - a[j])*t + 1)", "sp.oo", "1"),
    ("sp.exp(a[j]*t)/(sp.exp(a[j]*t) + sp.exp(a[i]*t))", "0", "1/sp.S(2)"),
    ("x/t", "sp.oo", "0"),
    ("x*y*t/(t + y)", "sp.oo", "x*y"),
    ("(y*t + x)/(theta*t + v**2 + 1)", "sp.oo", "y/theta"),
    ("(x*t + 1)/(v*t + 1)", "sp.oo", "x/v"),
    ("(x*t + 1)/(v*t + 1)", "0", "1"),
    ("total(l, a[l]*t)/t", "sp.oo", "total(l, a[l])"),
    ("total(l, sp.exp(-b[l]*t))", "sp.oo", "0"),
    ("t*total(l, q[l])/(t + 1)", "sp.oo", "1"),
    ("total(l, sp.exp(a[l]*t))", "0", "m"),
    ("sp.exp(a[j]*t)/total(l, sp.exp(a[l]*t))", "0", "1/m"),
    ("delta(i, j)*t/(t + 1)", "sp.oo", "delta(i, j)"),
]


@kind(4)
def limit(rng: random.Random) -> Node:
    """A limit of the table, usually with an edit or an affine change."""
    text, to, value = rng.choice(LIMITS)
    expr, claimed = leaf(f"({text})"), leaf(f"sp.S({value})")
    if "oo" not in value and rng.random() < 0.6:
        shift, scale = Grammar(rng).real(rng.choice((0, 1))), rng.choice([leaf("v"), leaf("y"), leaf(2), entry("a", "j")])
        if "t" not in shift.free | scale.free:
            expr, claimed = make("add", make("mul", scale, expr), shift), make("add", make("mul", scale, claimed), shift)
    if rng.random() < 0.3:
        claimed = mutate(claimed, rng)
    node = written(f"Limit({{}}, t, {to}, {{}})", expr, claimed)
    if rng.random() < 0.3:
        renamed = rng.choice([("x", "v"), ("v", "x"), ("y", "x"), ("y", "s"), ("s", "x"), ("b", "a"), ("i", "j")])
        swap = partial(re.sub, rf"\b{renamed[0]}\b", renamed[1])
        node = node.map_leaves(lambda part: swap(part) if part.startswith("(") and "sp" not in part else part)
    return node


EXPANSIONS = [
    ("sp.exp(x*t)", ["1", "x", "x**2/2", "x**3/6"]),
    ("sp.log(1 + y*t)", ["0", "y", "-y**2/2", "y**3/3"]),
    ("1/(1 + x*t)", ["1", "-x", "x**2", "-x**3"]),
    ("sp.sqrt(1 + x*t)", ["1", "x/2", "-x**2/8", "x**3/16"]),
    ("(y + t)**x", ["y**x", "x*y**(x - 1)", "x*(x - 1)*y**(x - 2)/2"]),
    ("xlogx(1 + t)", ["0", "1", "1/sp.S(2)", "-1/sp.S(6)"]),
    ("total(l, sp.exp(a[l]*t))", ["m", "total(l, a[l])", "total(l, a[l]**2)/2"]),
    ("sp.log(total(l, sp.exp(a[l]*t)))", ["sp.log(m)", "total(l, a[l])/m", "(total(l, a[l]**2)/m - total(l, a[l])**2/m**2)/2"]),
    ("sp.exp(a[j]*t)/total(l, sp.exp(a[l]*t))", ["1/m", "(a[j] - total(l, a[l])/m)/m"]),
    ("kl(1 + t, 1)", ["0", "0", "1/sp.S(2)", "-1/sp.S(6)"]),
    ("(x + t)**3", ["x**3", "3*x**2", "3*x", "1"]),
    ("total(l, u[l]*sp.exp(a[l]*t))", ["1", "total(l, u[l]*a[l])", "total(l, u[l]*a[l]**2)/2"]),
    ("sp.Abs(x + t)", ["sp.Abs(x)", "1"]),
    ("plus(y + t)", ["y", "1"]),
    ("(s + t)**2", ["s**2", "2*s", "1"]),
    ("total(l, (z[l] + t)**2)", ["total(l, z[l]**2)", "2*total(l, z[l])", "m"]),
]


@kind(4)
def computed_limit(rng: random.Random) -> Node:
    """A random function of t, whose limit the kernel computes by itself."""
    to = rng.choice(("sp.oo", "sp.oo", "0", "1", "y"))
    return written(f"Limit({{}}, t, {to}, 1)", _moving(rng, rng.choice((1, 2, 2, 3))))


@kind(2)
def computed_expansion(rng: random.Random) -> Node:
    """A random function of t, whose Taylor coefficients the kernel computes by itself."""
    return written("Expansion({}, 1, t, {})", _moving(rng, rng.choice((1, 2, 2))), leaf(rng.randint(0, 3)))


def _moving(rng: random.Random, depth: int) -> Node:
    """A random function of t, with parameters."""
    t, square = leaf("t"), leaf(2)
    real, constant = Grammar(rng).real(0), Grammar(rng).positive(0)
    if depth == 0:
        power = make("pow", t, leaf(rng.choice(("2", "sp.Rational(1, 2)", "y", "3"))))
        return rng.choice([t, t, t, make("mul", t, real), real, constant, power, make("div", ONE, t)])
    first, second = _moving(rng, depth - 1), _moving(rng, rng.choice((0, depth - 1)))
    name = rng.choice(("l", "h", "k"))
    weight = entry({"l": "a", "h": "c", "k": "b"}[name], name)
    above_zero = make("add", constant, make("pow", second, square))
    return rng.choice(
        [
            make(rng.choice(("add", "mul", "sub", "div")), first, second),
            make("div", first, above_zero),
            make("log", above_zero),
            make("sqrt", above_zero),
            make("exp", first),
            make("exp", make("neg", make("pow", first, square))),
            make("exp", make("neg", t)),
            make("log", make("add", ONE, make("exp", first))),
            make("pow", first, leaf(rng.choice("23"))),
            over(name, make("mul", weight, first)),
            over(name, make("exp", make("mul", weight, t))),
            make("xlogx", make("abs", first)),
            make(rng.choice(("plus", "abs")), first),
            make("log", t),
            make("kl", make("exp", first), constant),
            make("pow", make("add", ONE, t), make("div", ONE, t)),
        ]
    )


@kind(3)
def expansion(rng: random.Random) -> Node:
    """A Taylor polynomial of the table, times or plus another expression, sometimes with a wrong coefficient."""
    text, coefficients = rng.choice(EXPANSIONS)
    order = rng.randint(0, len(coefficients) - 1)
    series = leaf("(" + " + ".join(f"sp.S({one})*t**{k}" for k, one in enumerate(coefficients[: order + 1])) + ")")
    left, factor = leaf(f"({text})"), Grammar(rng).real(rng.choice((0, 1)))
    if "t" not in factor.free and rng.random() < 0.6:
        left, series = make("mul", factor, left), make("mul", factor, series)
    node = written("Expansion({}, {}, t, {})", left, rewrite(series, rng, rng.randint(0, 2)), leaf(order))
    if rng.random() < 0.5:
        edited = (
            mutate(series, rng) if series.op != "leaf" else make("add", series, make("mul", leaf("x"), leaf(f"t**{order}")))
        )
        node = written("Expansion({}, {}, t, {})", left, edited, leaf(order))
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
        edits = [
            ("y", "t"),
            ("a[", "d["),
            ("exp(", "exp(2*"),
            ("u[", "q["),
            (" - ", " + "),
            ("total(l", "total(k"),
            ("xlogx(", "sp.exp("),
            ("p(l)", "p(l)**2"),
            ("sp.S(", "2*sp.S("),
            ("sp.S(", "-sp.S("),
            ("/total", "*2/total"),
            ("l, p", "l, 2*p"),
            ("u[", "r["),
            ("/(", "/(1 + "),
        ]
        usable = [edit for edit in edits if edit[0] in texts[at]]
        texts[at] = texts[at].replace(*rng.choice(usable), 1) if usable else texts[at]
    return written("UniqueMinimum(lambda p: {}, lambda i: {}, m, {})", *map(leaf, texts))


@kind(1)
def sparse_minimum(rng: random.Random) -> Node:
    """The Euclidean projection of a point of the simplex is the point."""
    objective = rng.choice(
        [
            "total(l, (p(l) - q[l])**2)/2",
            "total(l, p(l)**2)/2 - total(l, p(l)*q[l])",
            "y*total(l, bregman(p(l), q[l], sp.S(2)))",
            "total(l, p(l)**2)/2",
            "total(l, (p(l) - r[l])**2)/2",
            "total(l, (p(l) - a[l])**2)/2",
        ]
    )
    candidate = rng.choice(["q[i]", "q[i]", "r[i]", "1/m", "u[i]"])
    factor = "y" if objective.startswith("y") else "sp.S(1)"
    return written(
        "UniqueMinimum(lambda p: {}, lambda i: sp.S({}), m, {}, alpha=sp.S(2))",
        leaf(objective),
        leaf(candidate),
        leaf(rng.choice((factor, factor, "y", "sp.S(2)"))),
    )


@kind(0.7)
def unique_plan(rng: random.Random) -> Node:
    """The row-wise softmax among the plans with unit rows."""
    factor = rng.choice(["y", "2", "t"])
    weight = rng.choice(["C[{0}, {1}]", "(C[{0}, {1}] + a[{0}])", "x*c[{1}]"])
    texts = [
        f"({factor})*total((l, g), xlogx(p(l, g))) - total((l, g), p(l, g)*{weight.format('l', 'g')})",
        f"sp.exp({weight.format('i', 'h')}/({factor}))/total(g, sp.exp({weight.format('i', 'g')}/({factor})))",
        f"sp.S({factor})",
    ]
    if rng.random() < 0.5:
        at = rng.randrange(3)
        edits = [
            ("y", "t"),
            ("exp(", "exp(2*"),
            (" - ", " + "),
            ("(l, g)", "(g, l)"),
            ("total(g", "2*total(g"),
            ("sp.S(", "2*sp.S("),
            ("C[i", "C[1"),
        ]
        usable = [edit for edit in edits if edit[0] in texts[at]]
        texts[at] = texts[at].replace(*rng.choice(usable), 1) if usable else texts[at]
    return written("UniquePlan(lambda p: {}, lambda i, h: {}, m, n, {})", *map(leaf, texts))
