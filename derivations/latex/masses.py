"""Read masses in the text, Σ_k p_k = 1, as distributions: of a vector, of a matrix, or of its rows."""

from __future__ import annotations

from functools import partial

from derivations.latex.guesses import Guess, Guesses
from derivations.latex.names import index_parts
from derivations.latex.sums import binds
from derivations.latex.tree import Node, Product, Scripted, spelled


def read_mass(guesses: Guesses, left: Node | None, why: str) -> None:
    """Read left = 1 as a distribution with entries > 0 or ≥ 0; entries of which the paper gives no sign are a question."""
    *signs, last = left.factors if isinstance(left, Product) else (left,)
    if not signs or not isinstance(last, Scripted) or last.sub is None:
        return
    name, letters = spelled(last.base), [spelled(part) for part in index_parts(last.sub)]
    summed = [letter for letter in letters if any(binds(sign, letter) for sign in signs)]
    known = guesses.lines.get(name)
    words = known.meaning.split() if known is not None else []
    if known is not None and words[-3:-2] == ["matrix"]:
        guesses.later.append((guesses.section, partial(_matrix_mass, known, letters, summed)))
    elif len(letters) != 1 or summed != letters:
        return
    elif known is not None and words[-2:-1] == ["vector"]:
        guesses.later.append((guesses.section, partial(_vector_mass, known)))
    elif known is None and (size := guesses.range_of(letters[0])):
        guesses.record(name, f"simplex {size}", why)
    elif known is None:
        guesses.later.append((guesses.section, partial(read_mass, guesses, left, why)))


def _vector_mass(known: Guess) -> None:
    kind = {"positive": "interior", "nonnegative": "simplex"}.get(known.meaning.split()[0])
    known.meaning = f"{kind} {known.meaning.split()[-1]}" if kind else "?"
    known.why += " and a sum of 1: entries ≥ 0?" if kind is None else ""


def _matrix_mass(known: Guess, letters: list[str], summed: list[str]) -> None:
    """Give a matrix the mass 1, or each of its rows; the mass of each column is a question, as are positive rows."""
    sign, shape = known.meaning.split()[0], " ".join(known.meaning.split()[-2:])
    if summed == letters and sign in ("positive", "nonnegative"):
        known.meaning = f"{'interior' if sign == 'positive' else 'simplex'} {shape}"
    elif summed == letters[1:] and sign == "nonnegative":
        known.meaning = f"stochastic {shape}"
    else:
        known.meaning = "?"
        known.why += f" and sums of 1 over {', '.join(summed) or 'no index'}"
