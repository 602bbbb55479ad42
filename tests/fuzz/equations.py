"""Equations: rewritten, mutated, suspicious, and the marginals of plans."""

import random
from fractions import Fraction

from tests.fuzz.grammar import Grammar
from tests.fuzz.kinds import expression, kind, written
from tests.fuzz.mutation import mutate
from tests.fuzz.nodes import Node, entry, leaf, make, number, over
from tests.fuzz.rewriting import ONE, rewrite


def _equation(left: Node, right: Node) -> Node:
    return written("Equation({}, {})", left, right)


@kind(22)
def rewritten_equation(rng: random.Random) -> Node:
    left = expression(rng)
    return _equation(left, rewrite(left, rng, rng.randint(1, 5)))


@kind(6)
def wild_equation(rng: random.Random) -> Node:
    left = expression(rng, wild=True)
    return _equation(left, rewrite(left, rng, rng.randint(1, 4)))


@kind(20)
def mutated_equation(rng: random.Random) -> Node:
    left = expression(rng, wild=rng.random() < 0.15)
    return mutate(_equation(left, rewrite(left, rng, rng.randint(0, 3))), rng)


@kind(3)
def random_equation(rng: random.Random) -> Node:
    return _equation(expression(rng, wild=True), expression(rng, wild=True))


@kind(8)
def suspicious_identity(rng: random.Random) -> Node:
    """Identities that hold on a part of their domain only."""
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
        lambda: _equation(
            make("kl", first, second),
            make("add", make("mul", first, make("log", make("div", first, second))), make("sub", second, first)),
        ),
        lambda: _equation(make("bregman", first, second, leaf(2)), make("div", square(make("sub", first, second)), leaf(2))),
        lambda: _equation(make("sub", make("plus", first), make("plus", make("neg", first))), first),
        lambda: _equation(make("abs", make("mul", first, second)), make("mul", make("abs", first), make("abs", second))),
        lambda: _equation(make("pow", make("pow", first, leaf("x")), leaf("v")), make("pow", first, leaf("x*v"))),
        lambda: _equation(
            make("pow", make("mul", first, second), leaf("x")),
            make("mul", make("pow", first, leaf("x")), make("pow", second, leaf("x"))),
        ),
        lambda: _equation(make("mul", make("pow", first, leaf("x")), make("pow", first, make("neg", leaf("x")))), leaf(1)),
        lambda: _equation(
            make("sub", make("log", make("neg", first)), make("log", make("neg", make("mul", leaf(2), first)))),
            make("neg", make("log", leaf(2))),
        ),
        lambda: _equation(over("l", make("div", entry(*_at(rng, "l")), entry(*_at(rng, "l")))), leaf("m")),
        lambda: _equation(
            make("div", make("sub", square(first), square(second)), make("sub", first, second)), make("add", first, second)
        ),
        lambda: _equation(
            make("add", make("div", ONE, first), make("div", ONE, second)),
            make("div", make("add", first, second), make("mul", first, second)),
        ),
        lambda: _equation(
            make("add", make("div", first, make("add", first, second)), make("div", second, make("add", first, second))), ONE
        ),
        *[
            lambda part=part: _equation(
                make("mul", part(first), make("add", second, leaf("v"))),
                make("add", make("mul", part(first), leaf("v")), make("mul", second, part(first))),
            )
            for part in (
                root,
                lambda u: make("log", u),
                lambda u: make("div", ONE, u),
                lambda u: make("pow", u, leaf("x")),
                lambda u: make("xlogx", u),
                lambda u: make("derivative", make("abs", u), leaf("x")),
            )
        ],
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
        row, summed = column, column  # a diagonal, or one from corner to corner
    first = make("reversed", leaf("m"), leaf(row)) if rng.random() < 0.4 else leaf(row)
    body = entry(plan, first, column)
    factor = Grammar(rng).real(0) if rng.random() < 0.3 else ONE
    bound = tuple(dict.fromkeys(summed)) if isinstance(summed, tuple) else (summed,)
    left = over(bound if len(bound) > 1 else bound[0], body if factor == ONE else make("mul", factor, body))
    rows = {"P": entry("q", first), "G": entry("u", first), "T": entry("q", first)}.get(plan, ONE)
    columns_of = {"P": entry("w", column), "G": entry("p", column), "T": entry("r", column)}.get(plan, ONE)
    sensible = (
        ONE
        if len(bound) > 1 and plan not in ("R", "U")
        else leaf("m")
        if len(bound) > 1
        else rows
        if bound == (column,)
        else columns_of
    )
    right = sensible if rng.random() < 0.75 else rng.choice([entry("q", row), ONE, leaf("m"), entry("w", "h"), leaf("n")])
    return _equation(left, right if factor == ONE else make("mul", factor, right))
