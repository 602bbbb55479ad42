"""What a first notation holds: a guess for each symbol, with the place in the paper that it was read from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from derivations.latex.names import pattern
from derivations.latex.tree import Node, Scripted, Symbol, spelled
from derivations.latex.uses import RESERVED

Place = tuple[str, int]  # "section" or "formula", and its number


@dataclass
class Guess:
    """What a symbol is taken for, and why."""

    meaning: str
    why: str


def narrows(meaning: str, known: str) -> bool:
    """Whether a domain is a part of another: the simplex of ℝ^m, its interior, the positive numbers."""
    words, before = meaning.split(), known.split()
    if len(words) == 1 and len(before) == 1:
        return (known, meaning) in (("real", "positive"), ("real", "nonnegative"), ("nonnegative", "positive"))
    wider = {"simplex": ("vector",), "interior": ("vector", "simplex"), "stochastic": ("matrix",)}
    signed = words[:1] in (["positive"], ["nonnegative"]) and words[1:] == before
    return words[-1:] == before[-1:] and (signed or (words[0] in wider and before[0] in wider[words[0]]))


@dataclass
class Guesses:
    """The notation in the making: guesses by symbol, in the order in which they were read."""

    lines: dict[str, Guess] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # name → the symbol under which it is declared
    defining: dict[int, str] = field(default_factory=dict)  # place of a formula → the symbol that it defines
    displayed: set[str] = field(default_factory=set)
    used: dict[str, list[Node]] = field(default_factory=dict)
    indices: dict[str, str] = field(default_factory=dict)  # index → its size, empty where it is not known yet
    sets: dict[str, str] = field(default_factory=dict)  # finite set → its size
    called: set[str] = field(default_factory=set)  # names that are used as functions
    local: dict[Place, dict[str, Guess]] = field(default_factory=dict)  # what a section or a formula says otherwise
    section: int = 0  # the section of the formula that is read now
    place: int | None = None  # its own place where it is displayed
    distributions: set[str] = field(default_factory=set)  # names that stand after this word
    later: list[tuple[int, Callable[[], None]]] = field(default_factory=list)  # by section, what waits for ranges of indices
    homes: dict[str, int] = field(default_factory=dict)  # name → the section of its guess

    def say(self, symbol: str, meaning: str, why: str, name: str = "") -> None:
        """Keep the first guess for a name; a definition replaces a domain, and a part of a domain the whole."""
        name = name or (pattern(symbol).name if meaning.startswith("=") or "(" in symbol else symbol)
        known = self.lines[self.names[name]].meaning if name in self.names else ""
        defined = meaning.startswith("=") and not known.startswith("=")
        if known and not defined and not (narrows(meaning, known) and self.homes[name] == self.section):
            return
        if known:
            del self.lines[self.names[name]]
        self.names[name], self.homes[name] = symbol, self.section
        self.lines[symbol] = Guess(meaning, why)

    def say_again(self, symbol: str, meaning: str, why: str) -> None:
        """What is said in so many words: for all x ∈ ℝ^m holds in its formula, x ∈ Δ in another section than before there."""
        known = self.lines[self.names[symbol]].meaning if symbol in self.names else ""
        again = known and meaning != "?" and not known.startswith(("=", "?")) and known != meaning
        if again and (self.place is not None or self.homes[symbol] != self.section):
            here = ("section", self.section) if self.place is None else ("formula", self.place)
            self.local.setdefault(here, {}).setdefault(symbol, Guess(meaning, why))
        else:
            self.say(symbol, meaning, why)

    def range_of(self, index: str) -> str:
        """The size of an index, empty where it is not known."""
        words = self.lines[index].meaning.split() if index in self.lines else []
        return self.indices.get(index) or (words[1] if words[:1] == ["index"] else "")

    def size(self, node: Node, why: str) -> str | None:
        """The size that a part names; a letter becomes one."""
        text = spelled(node)
        if text.isdigit() and int(text) >= 1:
            return text
        if text in self.sets:
            return self.sets[text]
        if isinstance(node, Symbol | Scripted) and text not in RESERVED and not text.startswith("\\"):
            self.say(text, "size", why)
            return text if self.lines.get(text, Guess("", "")).meaning.split()[0:1] == ["size"] else None
        return None
