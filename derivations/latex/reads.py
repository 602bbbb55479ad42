"""What the parts of reading ask of each other: the value of a part of a formula, of a product, of a subscript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import sympy as sp

from derivations.calculus.defined import Condition
from derivations.calculus.variables import Variable
from derivations.latex.notation import Meaning, Notation
from derivations.latex.tree import Node
from derivations.latex.values import Value


class Reads(Protocol):
    """A reader at some place of a formula, where some names stand for indices and arguments."""

    @property
    def notation(self) -> Notation:
        """What the symbols stand for."""

    @property
    def scope(self) -> Mapping[str, Value]:
        """What indices and arguments stand for at this place."""

    @property
    def free(self) -> dict[str, Variable]:
        """The free indices of the formula by their letters."""

    @property
    def asked(self) -> dict[Condition, None]:
        """What logarithms and roots ask of their arguments."""

    def fresh(self) -> Reads:
        """A reader of the same notation with nothing in scope."""

    def may_index(self, name: str) -> bool:
        """Whether a name may be a free index."""

    def within(self, **names: Value) -> Reads:
        """The reader where some names stand for something else."""

    def meaning(self, name: str) -> Meaning | None:
        """What a name stands for here; None for one that is not declared."""

    def index_of(self, name: str, what: str) -> Variable:
        """The index that a name stands for, over its whole range."""

    def point(self, name: str, at: Variable) -> Value:
        """What a bound name stands for: an index, or the point of that number."""

    def place(self, node: Node, size: sp.Expr | None = None) -> sp.Expr:
        """The index that a subscript names."""

    def value(self, node: Node) -> Value:
        """What a part of a formula stands for."""

    def product(self, factors: Sequence[Node]) -> Value:
        """The value of factors in a row."""

    def next(self, rest: list[Node]) -> Value:
        """The value of the next factor, together with what it takes of those after it, which are removed."""

    def scripts(self, value: Value, sub: Node | None, sup: Node | None, what: str) -> Value:
        """A value with its indices, then with its power."""
