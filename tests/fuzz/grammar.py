"""Random expressions over the vocabulary, with a sign that is known by construction unless the grammar is `wild`."""

import random
import re
from fractions import Fraction

from derivations.domains import (
    Coupling,
    Index,
    Interior,
    Nonnegative,
    Nonzero,
    Positive,
    Real,
    Simplex,
    Size,
    Slack,
    Stochastic,
    Unit,
)
from tests.fuzz.nodes import Node, entry, leaf, make, number, over
from tests.fuzz.vocabulary import APART, AXES, SCALARS, SIZES, VECTORS

POSITIVE = (Positive, Interior, Size, Index)
REAL_VECTORS, NONNEGATIVE_VECTORS, POSITIVE_VECTORS = (
    [name for name, base in VECTORS.items() if type(base.label.domain) in kinds]
    for kinds in ((Real, Unit, Nonzero), (Nonnegative, Simplex, Coupling, Stochastic, Slack), POSITIVE)
)
BOUND = ["j", "l", "i", "h", "g", "k", "j", "l", "h", "e", "f", "one", "o"]
WILD_EXPONENTS = [leaf("x"), leaf("m"), leaf("2*m"), leaf("j - 1"), *map(number, map(Fraction, ("3/2", "-1", "2/3")))]
PAIRS = [("j", "h"), ("i", "j"), ("l", "j"), ("j", "k"), ("h", "g"), ("l", "h"), ("h", "e")]


def sign_of(node: Node) -> str:
    """`positive`, `nonnegative` or `real`, as far as the tree shows it."""
    op = node.op
    if op == "leaf":
        if node.text in SCALARS or node.text in SIZES:
            kind = type({**SCALARS, **SIZES}[node.text].domain)
            return "positive" if kind in POSITIVE else "nonnegative" if kind is Nonnegative else "real"
        if not re.fullmatch(r"\d+|sp\.Rational\(\d+, \d+\)", node.text):
            return "real"
        return "nonnegative" if node.text == "0" else "positive"
    if op == "entry":
        return "positive" if node.text in POSITIVE_VECTORS else "nonnegative" if node.text in NONNEGATIVE_VECTORS else "real"
    signs = [sign_of(arg) for arg in node.args if not arg.is_index] if op not in ("total", "tail", "derivative") else []
    if op == "add":
        return "real" if "real" in signs else "positive" if "positive" in signs else "nonnegative"
    if op in ("mul", "div"):
        return "real" if "real" in signs else "nonnegative" if "nonnegative" in signs else "positive"
    if op == "pow":
        even = node.args[1].text in ("2", "4")
        return signs[0] if signs[0] != "real" else "nonnegative" if even else "real"
    if op == "total":
        sign = sign_of(node.args[1])
        return "nonnegative" if sign == "positive" and any(APART[name] for name in node.bound) else sign
    if op == "sqrt":
        return signs[0]
    return {
        "exp": "positive",
        "abs": "nonnegative",
        "plus": "nonnegative",
        "delta": "nonnegative",
        "kl": "nonnegative",
        "pinsker": "nonnegative",
        "bregman": "nonnegative",
    }.get(op, "real")


class Grammar:
    """One random expression after another; `depth` bounds the nesting, `wild` allows roots and logs of anything."""

    def __init__(self, rng: random.Random, wild: bool = False) -> None:
        self.rng, self.wild = rng, wild
        self.scope: list[str] = ["i", "j", "k", "h"]  # free indices, then those of enclosing sums

    def position(self, length: str) -> Node:
        """A position along an axis: mostly an index over it."""
        chance, fitting = self.rng.random(), [name for name in self.scope if AXES[name] == length]
        if chance < 0.05 or not fitting:
            return leaf("1") if self.rng.random() < 0.7 else leaf(length)
        if chance < 0.08:
            return make("reversed", leaf(length), leaf(self.rng.choice(fitting)))
        if chance < 0.10 and length in ("m", "n"):
            return leaf(length)
        return leaf(self.rng.choice(fitting[-3:] if self.rng.random() < 0.6 else fitting))

    def entry(self, names: list[str]) -> Node:
        """An entry of one of the vectors."""
        for _ in range(8):
            name = self.rng.choice(names)
            shape = [str(length) for length in VECTORS[name].shape]
            if all(length in ("m", "n") or any(AXES[at] == length for at in self.scope) for length in shape):
                break
        return entry(name, *map(self.position, shape))

    def total(self, depth: int, sign: str) -> Node:
        """A sum over one index or two, whose names may clash with those around it."""
        bound = self.rng.choice(PAIRS) if self.rng.random() < 0.25 else (self.rng.choice(BOUND),)
        bound = tuple(
            "l"
            if sign == "positive" and APART[name] and AXES[name] == "m"
            else "h"
            if sign == "positive" and APART[name]
            else name
            for name in bound
        )
        bound = tuple(dict.fromkeys(bound))
        self.scope += bound
        body = self.of(sign, depth)
        del self.scope[-len(bound) :]
        return over(bound if len(bound) > 1 else bound[0], body)

    def tail(self, depth: int, sign: str) -> Node:
        """A sum from 2, or to m − 1: part of a range."""
        name = self.rng.choice(("j", "l", "h"))
        self.scope.append(name)
        body = self.of(sign, depth)
        self.scope.pop()
        low, high = self.rng.choice((("2", AXES[name]), ("1", AXES[name] + " - 1"), ("2", AXES[name])))
        return make("tail", leaf(name), body, leaf(low), leaf(high))

    def of(self, sign: str, depth: int) -> Node:
        """A random expression with the sign."""
        return {"real": self.real, "nonnegative": self.nonnegative, "positive": self.positive}[sign](depth)

    def variable(self) -> Node:
        """A variable for a derivative."""
        return self.rng.choice(
            [
                lambda: leaf("x"),
                lambda: leaf("y"),
                lambda: leaf("t"),
                lambda: self.entry(["a", "b"]),
                lambda: self.entry(["a", "z", "c", "B", "C", "D", "d"]),
            ]
        )()

    def delta(self) -> Node:
        """δ of two positions on one axis."""
        length = self.rng.choice("mmn")
        fitting = [name for name in self.scope if AXES[name] == length]
        return make(
            "delta", leaf(self.rng.choice(fitting)), leaf(self.rng.choice(fitting)) if self.rng.random() < 0.93 else leaf(1)
        )

    def real(self, depth: int) -> Node:
        rng = self.rng
        if depth <= 0:
            chance = rng.random()
            if chance < 0.15:
                odd = rng.choice((Fraction(355, 113), Fraction(1, 10**30), 1 + Fraction(1, 10**20), Fraction(10**12)))
                return number(odd if rng.random() < 0.1 else Fraction(rng.randint(-3, 4), rng.choice((1, 1, 2))))
            if chance < 0.35:
                return leaf(rng.choice(["x", "x", "v", "m", "j", "(-1)**j", "sp.pi"]))
            if chance < 0.40:
                return self.delta()
            return self.entry(REAL_VECTORS) if chance < 0.75 else self.nonnegative(0)
        kind = rng.choices(
            ["add", "sub", "mul", "square", "cube", "total", "log", "xlogx", "derivative", "sign", "wild", "tail"],
            [4, 3, 5, 2, 1, 6, 4, 1, 3, 3, 2 * self.wild, 0.5 * self.wild],
        )[0]
        if kind in ("add", "sub", "mul"):
            return make(kind, self.real(depth - 1), self.real(depth - 1 if rng.random() < 0.4 else 0))
        if kind in ("square", "cube"):
            return make("pow", self.real(depth - 1), leaf(2 if kind == "square" else 3))
        if kind == "total":
            return self.total(depth - 1, "real")
        if kind == "tail":
            return self.tail(depth - 1, "real")
        if kind == "log":
            return make("log", self.positive(max(1, depth - 1)))
        if kind == "xlogx":
            return make("xlogx", self.nonnegative(depth - 1))
        if kind == "derivative":
            return make("derivative", self.real(depth - 1), self.variable())
        if kind == "wild":
            inner = self.real(depth - 1)
            return rng.choice(
                [
                    lambda: make("sqrt", inner),
                    lambda: make("log", inner),
                    lambda: make("div", self.real(0), inner),
                    lambda: make("xlogx", inner),
                    lambda: make("kl", inner, self.real(0)),
                    lambda: make("pow", inner, rng.choice(WILD_EXPONENTS)),
                ]
            )()
        return self.nonnegative(depth - 1) if rng.random() < 0.5 else self.positive(depth - 1)

    def nonnegative(self, depth: int) -> Node:
        rng = self.rng
        if depth <= 0:
            chance = rng.random()
            return self.entry(NONNEGATIVE_VECTORS) if chance < 0.7 else leaf("s") if chance < 0.8 else self.positive(0)
        kind = rng.choices(
            ["add", "mul", "square", "abs", "plus", "sqrt", "total", "kl", "bregman", "positive", "delta", "wild"],
            [3, 4, 3, 1, 1, 1, 5, 2, 1, 2, 1, self.wild],
        )[0]
        if kind in ("add", "mul"):
            return make(kind, self.nonnegative(depth - 1), self.nonnegative(depth - 1 if rng.random() < 0.4 else 0))
        if kind == "square":
            return make("pow", self.real(depth - 1), leaf(2))
        if kind in ("abs", "plus"):
            return make(kind, self.real(depth - 1))
        if kind == "sqrt":
            return make("sqrt", self.nonnegative(depth - 1))
        if kind == "total":
            return self.total(depth - 1, "nonnegative")
        if kind == "kl":
            name, below = "pinsker" if rng.random() < 0.2 else "kl", self.positive(depth - 1 if rng.random() < 0.3 else 0)
            return make(name, self.nonnegative(depth - 1), below)
        if kind == "bregman":
            return make(
                "bregman",
                self.nonnegative(depth - 1),
                self.nonnegative(0),
                rng.choice([leaf(2), number(Fraction(3, 2)), leaf("1 + y")]),
            )
        if kind == "delta":
            return make("mul", self.delta(), self.nonnegative(depth - 1))
        if kind == "wild":
            return make("pow", make("sqrt", self.real(depth - 1)), leaf(2))
        return self.positive(depth - 1)

    def positive(self, depth: int) -> Node:
        rng = self.rng
        if depth <= 0:
            chance = rng.random()
            if chance < 0.5:
                return self.entry(POSITIVE_VECTORS)
            return (
                leaf(rng.choice(["y", "t", "m", "n"]))
                if chance < 0.85
                else number(Fraction(rng.randint(1, 4), rng.choice((1, 2))))
            )
        kind = rng.choices(["add", "mul", "div", "exp", "total", "pow", "weight"], [3, 4, 3, 4, 4, 3, 1])[0]
        if kind == "add":
            return make("add", self.positive(depth - 1), self.nonnegative(depth - 1 if rng.random() < 0.4 else 0))
        if kind in ("mul", "div"):
            return make(kind, self.positive(depth - 1), self.positive(depth - 1 if rng.random() < 0.4 else 0))
        if kind == "exp":
            return make("exp", self.real(max(1, depth - 1) if rng.random() < 0.5 else depth - 1))
        if kind == "total":
            return self.total(depth - 1, "positive")
        if kind == "pow":
            exponents = [
                number(Fraction(1, 2)),
                number(Fraction(-2)),
                leaf(2),
                leaf("x"),
                number(Fraction(-1)),
                number(Fraction(3, 2)),
                leaf("m"),
                leaf("y"),
                number(Fraction(-1, 2)),
                number(Fraction(2, 3)),
                leaf("j"),
                leaf("m - n"),
                number(Fraction(-1, 3)),
            ]
            return make("pow", self.positive(depth - 1), rng.choice(exponents))
        return softmax("a", self.position("m"), rng.choice(("y", "t")))


def softmax(vector: str, at: Node, temperature: str, bound: str = "l") -> Node:
    """exp(a_at/τ)/Σ_l exp(a_l/τ)."""

    def weight(index: Node) -> Node:
        return make("exp", make("div", entry(vector, index), leaf(temperature)))

    return make("div", weight(at), over(bound, weight(leaf(bound))))
