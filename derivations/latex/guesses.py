"""What a first notation holds: a guess for each symbol, with the place in the paper that it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field

from derivations.latex.names import pattern
from derivations.latex.tree import Node, Scripted, Symbol, spelled
from derivations.latex.uses import RESERVED


@dataclass
class Guess:
    """What a symbol is taken for, and why."""

    meaning: str
    why: str


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

    def say(self, symbol: str, meaning: str, why: str, name: str = "") -> None:
        """Keep the first guess for a name; a definition replaces a domain."""
        name = name or (pattern(symbol).name if meaning.startswith("=") or "(" in symbol else symbol)
        if name in self.names and not (meaning.startswith("=") and not self.lines[self.names[name]].meaning.startswith("=")):
            return
        if name in self.names:
            del self.lines[self.names[name]]
        self.names[name] = symbol
        self.lines[symbol] = Guess(meaning, why)

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
