"""The interface through which the modules that read parts of a formula use the reader of the whole formula."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import sympy as sp

from derivations.calculus.defined import Condition
from derivations.calculus.variables import Variable
from derivations.reader.meaning.notation import Meaning, Notation
from derivations.reader.meaning.values import Value
from derivations.reader.syntax.tree import Node


class Reader(Protocol):
    """A reader of parts of a formula, in a scope where some names are indices or arguments."""

    @property
    def notation(self) -> Notation:
        """The meanings of the symbols."""

    @property
    def scope(self) -> Mapping[str, Value]:
        """The values of the indices and arguments bound here."""

    @property
    def free(self) -> dict[str, Variable]:
        """The free indices of the formula by their letters."""

    @property
    def required(self) -> dict[Condition, None]:
        """The conditions that logarithms and roots put on their arguments."""

    def fresh(self) -> "Reader":
        """A reader of the same notation with nothing in scope."""

    def may_index(self, name: str) -> bool:
        """Return whether a name may be a free index."""

    def within(self, **names: Value) -> "Reader":
        """Return a reader in which these names have other values."""

    def meaning(self, name: str) -> Meaning | None:
        """Return the meaning of a name here; None if it is not declared."""

    def function(self, name: str, call: Node) -> Meaning | None:
        """Return the meaning of a name before parentheses, which decide if it has several."""

    def index_of(self, name: str, what: str) -> Variable:
        """The index that a name stands for, over its whole range."""

    def point(self, name: str, at: Variable) -> Value:
        """Return the value of a bound name: an index, or the point of that number."""

    def subscript(self, node: Node, size: sp.Expr | None = None) -> sp.Expr:
        """The index that a subscript names."""

    def value(self, node: Node) -> Value:
        """Return the value of a part of a formula."""

    def product(self, factors: Sequence[Node]) -> Value:
        """Return the value of a product."""

    def next(self, rest: list[Node]) -> Value:
        """Return the value of the next factor with the later factors it applies to, and remove all of them."""

    def scripts(self, value: Value, sub: Node | None, sup: Node | None, what: str) -> Value:
        """Apply subscripts, then a power, to a value."""
