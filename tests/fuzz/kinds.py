"""Kinds of random statements: true ones by rewriting, false ones by one edit, and some of unknown truth."""

import random
from collections.abc import Callable

from tests.fuzz.grammar import Grammar
from tests.fuzz.nodes import Node, leaf

Maker = Callable[[random.Random], Node]
KINDS: dict[str, tuple[float, Maker]] = {}


def kind(weight: float) -> Callable[[Maker], Maker]:
    """Register a kind of statement with its share."""

    def register(function: Maker) -> Maker:
        KINDS[function.__name__] = (weight, function)
        return function

    return register


def written(template: str, *args: Node) -> Node:
    """A statement given by its template."""
    return Node("statement", args, template)


def vanishing(rng: random.Random, size: str) -> Node:
    """A factor ≥ 0 that is 0 at the smallest values of a size, or at all that the kernel's own sample has."""
    last = rng.choice((3, 7, 7))
    return leaf("(" + "*".join(f"({size} - {number})" for number in range(1, last + 1)) + ")**2")


def expression(rng: random.Random, sign: str | None = None, wild: bool = False) -> Node:
    """An expression with the sign, or with any sign."""
    return Grammar(rng, wild).of(sign or rng.choice(("real", "real", "nonnegative", "positive")), rng.choice((1, 2, 2, 3)))
