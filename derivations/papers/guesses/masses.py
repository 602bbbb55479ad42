"""Read masses in the text: Σ_k p_k = 1 as a distribution, P1 = a and P^⊤1 = b as a coupling of a and b."""

from functools import partial

from derivations.domains import Interior, Simplex
from derivations.domains.base import Sign
from derivations.papers.guesses.guesses import Guess, Guesses
from derivations.reader.meaning.derivatives import TRANSPOSED
from derivations.reader.meaning.sums import binds
from derivations.reader.syntax.names import index_parts
from derivations.reader.syntax.tree import Node, Product, Scripted, Symbol, spelled

ONES = ("\\mathbf{1}", "\\mathbb{1}", "\\boldsymbol{1}", "\\bm{1}")


def read_mass(guesses: Guesses, left: Node | None, why: str) -> bool:
    """Read left = 1 as a distribution with entries > 0 or ≥ 0, and return whether it is such a sum.

    Entries of which the paper gives no sign are a question.
    """
    *signs, last = left.factors if isinstance(left, Product) else (left,)
    if not signs or not all(map(_is_sum, signs)) or not isinstance(last, Scripted) or last.sub is None:
        return False
    name, letters = spelled(last.base), [spelled(part) for part in index_parts(last.sub)]
    summed = [letter for letter in letters if any(binds(sign, letter) for sign in signs)]
    known = guesses.lines.get(name)
    words = known.meaning.split() if known is not None else []
    if known is not None and words[-3:-2] == ["matrix"]:
        guesses.later.append((guesses.section, partial(_matrix_mass, known, letters, summed)))
    elif len(letters) != 1 or summed != letters:
        return False
    elif known is not None and words[-2:-1] == ["vector"]:
        guesses.later.append((guesses.section, partial(_vector_mass, known)))
    elif known is None and (size := guesses.range_of(letters[0])):
        guesses.record(name, f"simplex {size}", why)
    elif known is None:
        guesses.later.append((guesses.section, partial(read_mass, guesses, left, why)))
    return True


def read_marginal(guesses: Guesses, left: Node | None, right: Node | None, latex: str, *, assumed: bool) -> None:
    """Note P1 = a and P^⊤1 = b, or Σ_j P_ij = a_i and Σ_i P_ij = b_j; `settle_masses` uses them once everything is declared.

    What a case assumes, “If P1 = a”, holds in the displays of its sentence only, see `premises`.
    """
    if not (isinstance(left, Product) and len(left.factors) == 2 and isinstance(right, Symbol | Scripted)):
        return
    if (marginal := _marginal(left, right)) is None:
        return
    matrix, side, law = marginal
    if assumed:
        guesses.assumed[latex] = marginal
    else:
        guesses.marginals.setdefault(matrix, {})[side] = law
        guesses.summed.setdefault(matrix, []).append(latex)


def _marginal(left: Product, right: Symbol | Scripted) -> tuple[str, str, str] | None:
    """The matrix of a marginal, the side that it sums, rows or columns, and the name of the sums."""
    first, last = left.factors
    law = spelled(right.base if isinstance(right, Scripted) else right)
    if spelled(last.base if isinstance(last, Scripted) else last) in ONES:
        transposed = isinstance(first, Scripted) and first.sup is not None and spelled(first.sup) in TRANSPOSED
        matrix = spelled(first.base if isinstance(first, Scripted) else first)
        return matrix, "columns" if transposed else "rows", law
    letters = list(map(spelled, index_parts(last.sub))) if isinstance(last, Scripted) and last.sub is not None else []
    summed = [letter for letter in letters if _is_sum(first) and binds(first, letter)]
    if isinstance(last, Scripted) and len(letters) == 2 and len(summed) == 1:
        return spelled(last.base), "rows" if summed == letters[1:] else "columns", law
    return None


def _is_sum(node: Node) -> bool:
    return isinstance(node, Scripted) and spelled(node.base) == "\\sum"


def settle_masses(guesses: Guesses) -> None:
    """Give declared vectors that are called distributions the mass 1, and matrices with marginals the kind of a coupling."""
    for name in guesses.laws & set(guesses.lines):
        own = guesses.lines[name].domain
        if own is not None and len(own.shape) == 1 and own.kind.is_independent:
            inside = own.kind.sign is Sign.POSITIVE or name in guesses.interior
            guesses.lines[name].meaning = str(own.of_kind(Interior if inside else Simplex))
    for name, marginals in guesses.marginals.items():
        known = guesses.lines.get(name)
        if known is None or known.meaning.split()[-3:-2] != ["matrix"]:
            continue
        guesses.read.update(guesses.summed[name])
        laws = [marginals.get(side, "") for side in ("rows", "columns")]
        kinds = [guesses.lines[law].meaning.split()[0] for law in laws if law in guesses.lines]
        if known.meaning.startswith("nonnegative") and len(kinds) == 2 and set(kinds) <= {"simplex", "interior"}:
            known.meaning = f"coupling {laws[0]} {laws[1]}"
        elif known.meaning.startswith("nonnegative") and laws[0] in ONES and not laws[1]:
            known.meaning = f"stochastic {' '.join(known.meaning.split()[-2:])}"
        else:
            known.meaning = "?"
            known.why += f" and sums of {' and '.join(f'{side} {law}' for side, law in marginals.items())}"


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
