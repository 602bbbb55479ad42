"""Kinds of random statements: true ones by rewriting, false ones by one edit, and some of unknown truth."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.grammar import Grammar
from tests.fuzz.nodes import Node

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


def expression(rng: random.Random, sign: str | None = None, wild: bool = False) -> Node:
    """An expression with the sign, or with any sign."""
    return Grammar(rng, wild).of(sign or rng.choice(("real", "real", "nonnegative", "positive")), rng.choice((1, 2, 2, 3)))
