"""Read signs and bounds of numbers in the text: τ > 0, p_i ≥ 0, m ≥ 2, α ≠ 1, 0 < λ ≤ 1."""

import re
from collections.abc import Sequence
from functools import partial

from derivations.papers.guesses.guesses import Guess, Guesses
from derivations.reader.meaning.uses import RESERVED, is_index_list
from derivations.reader.syntax.names import index_parts
from derivations.reader.syntax.tree import Chain, Node, Number, Scripted, Sum, Symbol, spelled

COMPARISONS = {
    "<": "<",
    ">": ">",
    "\\le": "<=",
    "\\leq": "<=",
    "\\leqslant": "<=",
    "\\ge": ">=",
    "\\geq": ">=",
    "\\geqslant": ">=",
    "\\ne": "!=",
    "\\neq": "!=",
}
NUMBER = re.compile(r"(size|real|positive|nonnegative)( [<>!]=? \S+)*")
LATEX = {"<=": "\\le", ">=": "\\ge", "!=": "\\ne"}
ABOVE = ("positive", "interior", "size")  # kinds with entries > 0, and ≥ 0
AT_LEAST = ("nonnegative", "simplex", "stochastic", "coupling")
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


def read_comparison(guesses: Guesses, before: Sequence[Node], chain: Chain, why: str) -> bool:
    """Read x, y > 0 (`before` is x), 0 < λ < 1 and 1 ≥ x as domains; return False for what is no domain of a symbol."""
    signs = [COMPARISONS[sign] for sign in chain.signs]
    if len(chain.parts) == 2 and (number := _number(chain.parts[1])) is not None and chain.parts[0] is not None:
        read = [_compare(guesses, symbol, signs[0], number, why) for symbol in (*before, chain.parts[0])]
        return all(read)
    if (low := _number(chain.parts[0])) is not None and chain.parts[1] is not None:
        high = _number(chain.parts[2]) if len(chain.parts) == 3 else None
        if len(chain.parts) > 2 and high is None:
            return False
        above = _compare(guesses, chain.parts[1], MIRRORED[signs[0]], low, why)
        return (high is None or _compare(guesses, chain.parts[1], signs[1], high, why)) and above
    return False


def _number(node: Node | None) -> str | None:
    """Return a number, or a number with a sign, as text."""
    if isinstance(node, Sum) and len(node.terms) == 1 and isinstance(node.terms[0][1], Number):
        return node.terms[0][0] + node.terms[0][1].text
    return node.text if isinstance(node, Number) else None


def _compare(guesses: Guesses, symbol: Node, sign: str, number: str, why: str) -> bool:
    kind = {(">", "0"): "positive", (">=", "0"): "nonnegative"}.get((sign, number), "")
    if isinstance(symbol, Symbol) and kind:
        if symbol.name in guesses.names:
            return _sign(guesses, symbol.name, kind)
        guesses.record(symbol.name, kind, why)
        return True
    if isinstance(symbol, Symbol):
        return _bound(guesses, symbol.name, sign, number, why)
    if isinstance(symbol, Scripted) and symbol.sub is not None and kind and is_index_list(symbol.sub):
        return _entries(guesses, symbol, kind, why)
    return False


def _sign(guesses: Guesses, name: str, kind: str) -> bool:
    """Give a symbol, or its entries, a sign in the section that declares it; return False if no meaning expresses it."""
    known = guesses.lines[guesses.names[name]]
    meaning = signed(known.meaning, kind)
    if not meaning or (meaning != known.meaning and guesses.homes[name] != guesses.section):
        return False
    known.meaning = meaning
    return True


def signed(meaning: str, kind: str) -> str:
    """Return a meaning with a sign of all entries, nonnegative or positive; empty if there is none, as for a unit vector."""
    first = meaning.split()[0]
    if first in (*ABOVE, *(AT_LEAST if kind == "nonnegative" else ())):
        return meaning
    if first in ("vector", "matrix"):
        return f"{kind} {meaning}"
    with_sign = {"real": kind, "nonnegative": kind, "simplex": "interior"}
    with_sign |= {"nonzero": kind} if kind == "positive" else {}
    return f"{with_sign[first]}{meaning.removeprefix(first)}" if first in with_sign else ""


def _entries(guesses: Guesses, symbol: Scripted, kind: str, why: str) -> bool:
    """Give all entries of a vector or matrix a sign: p_i > 0."""
    name = spelled(symbol.base)
    if name in guesses.names:
        return _sign(guesses, name, kind)
    letters = [spelled(part) for part in index_parts(symbol.sub)] if symbol.sub is not None else []
    sizes = [guesses.range_of(letter) for letter in letters]
    if all(sizes) and len(sizes) <= 2:
        guesses.record(name, f"{kind} {'vector' if len(sizes) == 1 else 'matrix'} {' '.join(sizes)}", why)
    else:
        guesses.later.append((guesses.section, partial(_entries_later, guesses, symbol, kind, why)))
    return True


def _entries_later(guesses: Guesses, symbol: Scripted, kind: str, why: str) -> None:
    if not _entries(guesses, symbol, kind, why):
        sign = ">" if kind == "positive" else LATEX[">="]
        guesses.restrictions.append((int(why.split()[1].rstrip(":")), f"{spelled(symbol)} {sign} 0"))


def _bound(guesses: Guesses, name: str, sign: str, number: str, why: str) -> bool:
    """Record a bound such as m ≥ 2 for a size, or α > 1 for a number; return False for a bound of anything else."""
    known = guesses.lines.get(name)
    if number == "1" and sign == ">=" and (known is None or known.meaning == "size") and len(name) == 1:
        guesses.record(name, "size", why)
    elif known is None and name not in RESERVED and name not in guesses.indices:
        kind = "positive" if sign in (">", ">=") and number.isdigit() and number != "0" else "real"
        guesses.record(name, f"{kind} {sign} {number}", why)
    elif known is not None and NUMBER.fullmatch(known.meaning) and f"{sign} {number}" not in known.meaning:
        if name in guesses.displayed and guesses.first_section.get(name, guesses.section) < guesses.section:
            own = Guess(f"{known.meaning} {sign} {number}", why)  # earlier sections do not assume it
            guesses.local.setdefault(("section", guesses.section), {})[name] = own
            guesses.restrictions.append((int(why.split()[1].rstrip(":")), f"{name} {LATEX.get(sign, sign)} {number}"))
            return True
        known.meaning = f"{known.meaning} {sign} {number}"
    bounded = guesses.lines.get(name)
    return bounded is not None and (bounded.meaning == "size" or f"{sign} {number}" in bounded.meaning)
