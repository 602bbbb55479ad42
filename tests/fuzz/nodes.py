"""Statements as trees that print as Python and are built by evaluating what they print.

So a failure is always a one-line repro, an edit is an edit of the source, and SymPy sees a statement as an author types it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.fuzz.vocabulary import APART, AXES, INDICES, NAMESPACE

SYNTAX = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "{}*{}",
    "div": "{}/sp.S({})",
    "neg": "(-{})",
    "pow": "sp.S({})**({})",
    "total": "total({}, {})",
    "pair": "({}, {})",
    "tail": "sp.Sum({1}, ({0}, {2}, {3}))",
    "delta": "delta({}, {})",
    "log": "sp.log({})",
    "exp": "sp.exp({})",
    "sqrt": "sp.sqrt({})",
    "abs": "sp.Abs({})",
    "plus": "plus({})",
    "kl": "kl({}, {})",
    "pinsker": "pinsker({}, {})",
    "xlogx": "xlogx({})",
    "bregman": "bregman({}, {}, {})",
    "derivative": "derivative(sp.S({}), {})",
    "reversed": "{} + 1 - {}",
}


class CaptureError(ValueError):
    """A substitution would put an index under a sum that binds it."""


@dataclass(frozen=True)
class Node:
    """An operation of SYNTAX on `args`; or a leaf, an entry (`text` is its vector) or a statement (`text` is its template)."""

    op: str
    args: "tuple[Node, ...]" = ()
    text: str = ""

    def __str__(self) -> str:
        if self.op == "leaf":
            return self.text
        if self.op == "entry":
            return f"{self.text}[{', '.join(map(str, self.args))}]"
        return (self.text if self.op == "statement" else SYNTAX[self.op]).format(*self.args)

    def build(self) -> Any:
        """Evaluate the text."""
        return eval(str(self), dict(NAMESPACE))

    @property
    def is_index(self) -> bool:
        """Whether the tree is a position, not a number."""
        return self.op in ("pair", "reversed") or (self.op == "leaf" and self.text in (*INDICES, "#1", "#m"))

    def walk(self, path: tuple[int, ...] = ()) -> "Iterator[tuple[tuple[int, ...], Node]]":
        """All subtrees with their paths."""
        yield path, self
        for position, arg in enumerate(self.args):
            yield from arg.walk((*path, position))

    def put(self, path: tuple[int, ...], new: "Node") -> "Node":
        """The tree with the subtree at `path` replaced."""
        if not path:
            return new
        head, *rest = path
        args = tuple(arg.put(tuple(rest), new) if at == head else arg for at, arg in enumerate(self.args))
        return Node(self.op, args, self.text)

    def map_leaves(self, change: Callable[[str], str]) -> "Node":
        """The tree with the text of every leaf changed."""
        if self.op == "leaf":
            return Node("leaf", (), change(self.text))
        return Node(self.op, tuple(arg.map_leaves(change) for arg in self.args), self.text)

    @property
    def bound(self) -> tuple[str, ...]:
        """The indices that this node binds."""
        if self.op not in ("total", "tail"):
            return ()
        return tuple(part.text for part in (self.args[0].args if self.args[0].op == "pair" else (self.args[0],)))

    @property
    def free(self) -> frozenset[str]:
        """The free names, including those that a bound index differs from."""
        if self.op == "leaf":
            return frozenset(re.findall(r"[A-Za-z_]\w*", self.text)) or frozenset((self.text,))
        inside = frozenset().union(*(arg.free for arg in self.args))
        if self.bound:
            body = frozenset().union(*(arg.free for arg in self.args[1:])) - set(self.bound)
            return body | {other for name in self.bound for other in APART[name]} - set(self.bound)
        return inside | {self.text} if self.op == "entry" else inside

    def put_index(self, old: str, new: "Node") -> "Node":
        """The tree with the free index `old` replaced; raises CaptureError if a sum would bind the new one."""
        if old not in self.free:
            return self
        if self.op == "leaf":
            if self.text != old:
                raise CaptureError(f"{old} in {self.text}")
            return new
        if self.bound and (set(self.bound) & new.free or any(old in APART[name] for name in self.bound)):
            raise CaptureError(f"{old} → {new} in {self}")
        return Node(self.op, tuple(arg.put_index(old, new) for arg in self.args), self.text)


def leaf(text: object) -> Node:
    """A name or a number as an author types it."""
    return Node("leaf", (), str(text))


def number(value: Any) -> Node:
    """A rational number."""
    return leaf(value) if int(value) == value and value >= 0 else leaf(f"sp.Rational({value.numerator}, {value.denominator})")


def entry(vector: str, *position: str | Node) -> Node:
    """An entry of a vector or matrix."""
    return Node("entry", tuple(leaf(i) if isinstance(i, str) else i for i in position), vector)


def make(op: str, *args: Node) -> Node:
    """An operation."""
    return Node(op, args)


def over(names: str | tuple[str, ...], body: Node) -> Node:
    """Σ over one index or two."""
    bound = leaf(names) if isinstance(names, str) else Node("pair", tuple(map(leaf, names)))
    return Node("total", (bound, body))


def axis(name: str) -> str:
    """The size that an index runs over, as text."""
    return AXES[name]
