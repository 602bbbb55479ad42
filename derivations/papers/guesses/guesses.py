"""The data of a guessed notation: a meaning for each symbol, and where in the paper it was read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from derivations.domains.written import Written, written
from derivations.reader.meaning.uses import RESERVED, declared_name, uses
from derivations.reader.syntax.names import pattern, signature
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import LatexError, Node, Product, Scripted, Symbol, spelled, walk

Scope = tuple[str, int]  # "section" or "formula", and its number


@dataclass
class Guess:
    """A guessed meaning of a symbol, and the reason."""

    meaning: str
    why: str

    @property
    def domain(self) -> Written | None:
        """The domain that the meaning is; None for a definition, a question, bounds, or rows of a matrix."""
        return domain_in(self.meaning)


@dataclass(frozen=True)
class Gradient:
    """The statement left = ±∂loss/∂by of a paper."""

    left: Node
    right: Node
    sign: str
    loss: str
    by: Node
    why: str


def narrows(meaning: str, known: str) -> bool:
    """Return whether a domain is a subset of another, as the simplex is of ℝ^m."""
    one, other = domain_in(meaning), domain_in(known)
    if one is not None and other is not None:
        return one.is_inside(other) and not one.kind.is_size
    first, *bounds = meaning.split()  # real >= 1
    number = other is not None and not other.shape and not other.marginals
    return number and bounds != [] and (meaning.startswith(f"{known} ") or narrows(first, known))


@cache
def domain_in(meaning: str) -> Written | None:
    """Return the domain that a meaning is; None for any other meaning, and for a domain without its sizes."""
    try:
        return written(meaning)
    except ValueError:
        return None


def without_length(meaning: str) -> str:
    """Strip “unit” and “nonzero” from a domain."""
    return meaning.removeprefix("unit ").removeprefix("nonzero ")


def _is_labelled(node: Scripted) -> bool:
    return isinstance(node.base, Symbol) and node.sub is not None and declared_name(node) != spelled(node.base)


@dataclass
class Guesses:
    """The guesses made so far, by symbol, in the order in which they were read."""

    lines: dict[str, Guess] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # name → the symbol under which it is declared
    defining: dict[int, str] = field(default_factory=dict)  # position of a formula → the symbol it defines
    displayed: set[str] = field(default_factory=set)
    used: dict[str, list[Node]] = field(default_factory=dict)
    first_section: dict[str, int] = field(default_factory=dict)  # name → the section in which it is used first
    indices: dict[str, str] = field(default_factory=dict)  # index → its size, empty if not known yet
    ranges: dict[tuple[int, str], str] = field(default_factory=dict)  # section and index → the size printed there
    labels: set[str] = field(default_factory=set)  # subscripts that are no indices, w of r_w
    sets: dict[str, str] = field(default_factory=dict)  # finite set → its size
    called: set[str] = field(default_factory=set)  # names that are used as functions
    indexed: set[str] = field(default_factory=set)  # names that have an index somewhere
    local: dict[Scope, dict[str, Guess]] = field(default_factory=dict)  # other meanings in a section or a formula
    section: int = 0  # of the formula being read
    position: int | None = None  # of the formula being read, if it is displayed
    distributions: set[str] = field(default_factory=set)  # names that the words call distributions
    laws: set[str] = field(default_factory=set)  # of these, those that the words after them call so
    interior: set[str] = field(default_factory=set)  # distributions with positive entries
    marginals: dict[str, dict[str, str]] = field(default_factory=dict)  # matrix → the names of its sums of rows and of columns
    matrices: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # vectors → rows or columns, their matrix, source
    assumed: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # formulas of cases → matrix, side and its sums
    summed: dict[str, list[str]] = field(default_factory=dict)  # matrix → the formulas that say so
    stochastic: dict[str, str] = field(default_factory=dict)  # names of stochastic matrices, with “row-”, “column-” or “doubly”
    gradients: list[Gradient] = field(default_factory=list)  # of losses that the paper may not define
    later: list[tuple[int, Callable[[], object]]] = field(default_factory=list)  # by section, readings that need index ranges
    read: set[str] = field(default_factory=set)  # formulas of the text that give domains without being their source
    restrictions: list[tuple[int, str]] = field(default_factory=list)  # by line, conditions of the text not used
    unread: list[tuple[int, str]] = field(default_factory=list)  # by line, its other statements not used
    premises: dict[int, list[str]] = field(default_factory=dict)  # position of a display → conditions in the text before it
    said: dict[tuple[int, str], list[str]] = field(default_factory=dict)  # line and formula → conditions that words state there
    laws_of: dict[str, str] = field(default_factory=dict)  # name of a law → an index that is drawn from it
    diverging: set[str] = field(default_factory=set)  # names D of D(q‖p)
    crowded: dict[str, list[str]] = field(default_factory=dict)  # name → signatures of the functions that share it
    homes: dict[str, int] = field(default_factory=dict)  # name → the section of its guess

    def record(self, symbol: str, meaning: str, why: str, name: str = "") -> None:
        """Record a guess unless the name has one; a definition replaces a domain, and a smaller domain a larger one.

        What is no symbol, such as [∇f(x)] or 1, gets no meaning.
        """
        try:
            shown = pattern(symbol)
        except LatexError:
            return
        if not name:
            name = shown.name if meaning.startswith("=") or shown.arguments else symbol
            name = self.function(name, symbol) if shown.arguments else name
        known = self.lines[self.names[name]].meaning if name in self.names else ""
        defined = meaning.startswith("=") and not known.startswith("=")
        if known and not defined and not (narrows(meaning, known) and self.homes[name] == self.section):
            return
        if known:
            del self.lines[self.names[name]]
        self.names[name], self.homes[name] = symbol, self.section
        self.lines[symbol] = Guess(meaning, why)

    def function(self, name: str, symbol: str) -> str:
        """Return the name of a printed function: its signature if other functions share the name, p(x|z) for p(x'|z)."""
        for own in self.crowded.get(name, ()):
            if signature(symbol) == own:
                return own
        return name

    def share(self, name: str) -> None:
        """Let a function v(t) share its name with a vector v that the text of another section declares."""
        symbol = self.names.get(name, "")
        called = bool(symbol) and bool(pattern(symbol).arguments)
        if called and self.position is None and self.homes[name] != self.section:
            own = signature(symbol)
            self.crowded.setdefault(name, []).append(own)
            self.names[own], self.homes[own] = self.names.pop(name), self.homes.pop(name)

    def record_explicit(self, symbol: str, meaning: str, why: str) -> None:
        """Record an explicit domain; one that contradicts an earlier guess holds in its formula or section only."""
        if len(meaning.split()) > 1:
            self.share(symbol)
        known = self.lines[self.names[symbol]].meaning if symbol in self.names else ""
        if not known and self.first_section.get(symbol, self.section) < self.section and self.is_argument(symbol):
            self.local.setdefault(("section", self.section), {}).setdefault(symbol, Guess(meaning, why))
            return
        again = known and meaning != "?" and not known.startswith(("=", "?")) and known != meaning
        if again and (self.position is not None or self.homes[symbol] != self.section):
            here = ("section", self.section) if self.position is None else ("formula", self.position)
            self.local.setdefault(here, {}).setdefault(symbol, Guess(meaning, why))
        else:
            self.record(symbol, meaning, why)

    def is_argument(self, name: str) -> bool:
        """Whether a symbol is the argument of a function that is defined, f(x) = …"""
        return any(name in pattern(symbol).arguments for symbol in self.lines)

    def behind(self, names: set[str], but: str = "") -> set[str]:
        """Return some names with all that their definitions use; that of `but` is not followed."""
        seen: set[str] = set()
        waiting = set(names)
        while waiting:
            name = waiting.pop()
            seen.add(name)
            line = self.lines.get(self.names.get(name, ""))
            if line is not None and line.meaning.startswith("=") and name != but:
                tree = parse(line.meaning[1:])
                waiting |= self.names_in(tree) - seen
        return seen

    def names_in(self, tree: Node) -> set[str]:
        """Return the names that a formula uses; functions that share a name by their signatures."""
        labelled = {spelled(node.base) for node in walk(tree) if isinstance(node, Scripted) and _is_labelled(node)}  # L of L_1
        named = ({spelled(node) for node in walk(tree)} - labelled) | {symbol for symbol, _ in uses(tree)}
        calls = {self.function(symbol, spelled(node)) for symbol, node in uses(tree) if isinstance(node, Product)}
        return (named - {name for name, own in self.crowded.items() if "|" in "".join(own)}) | calls

    def runs(self, letters: Iterable[str], size: str) -> None:
        """Record that indices run from 1 to a size, in the section that is being read and, so far, elsewhere."""
        for letter in letters:
            self.indices[letter] = self.ranges[self.section, letter] = size

    def range_of(self, index: str) -> str:
        """The size of an index, empty where it is not known."""
        own = self.lines[index].domain if index in self.lines else None
        return self.indices.get(index) or (own.shape[0] if own is not None and own.kind.is_index else "")

    def size(self, node: Node, why: str) -> str | None:
        """The size that a part names; a letter becomes one."""
        text = spelled(node)
        if text.isdigit() and int(text) >= 1:
            return text
        if text in self.sets:
            return self.sets[text]
        if isinstance(node, Symbol | Scripted) and text not in RESERVED and not text.startswith("\\"):
            self.record(text, "size", why)
            return text if self.lines.get(text, Guess("", "")).meaning.split()[0:1] == ["size"] else None
        return None
