"""Read printed problems over a simplex or over plans with rows of mass 1; a rival replaces the optimization variable."""

from dataclasses import dataclass

import sympy as sp

from derivations.calculus.variables import Variable, rival, vector
from derivations.domains import Simplex, Stochastic
from derivations.reader.meaning.notation import Definition
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Value
from derivations.reader.syntax.names import plain
from derivations.reader.syntax.tree import Chain, LatexError, Listing, Node, Product, Scripted, Sum, product_node, spelled


@dataclass(frozen=True)
class PosedProblem:
    """Minimize `objective` over a simplex, or over plans with rows of mass 1; the objective of a maximum is negated.

    For a problem over all vectors, `free` is the optimization variable.
    """

    objective: sp.Expr
    axes: tuple[sp.Expr, ...]
    sign: int
    only_value: bool
    free: Value | None = None


ROWS = "U (a,"
ENDS = {"\\min": 1, "\\inf": 1, "\\max": -1, "\\sup": -1}
ARGUMENTS = {"\\mathrm{argmin}": 1, "\\mathrm{argmax}": -1, "\\argmin": 1, "\\argmax": -1}


def posed(reader: Reader, node: Node, *, open_: bool = False) -> PosedProblem | None:
    """Read a side as an optimization problem; None if it is not one.  `open_` keeps its own variable instead of a rival."""
    factors = list(node.factors) if isinstance(node, Product) else [node]
    others: tuple[tuple[str, Node], ...] = ()
    if not factors:
        return None
    if isinstance(node, Sum):
        sign, first = node.terms[0]
        factors = list(first.factors) if isinstance(first, Product) else [first]
        others = node.terms[1:]
        if sign == "-":
            return None
    names = [spelled(each.base) if isinstance(each, Scripted) else spelled(each) for each in factors[:2]]
    argument = names[:1] == ["\\arg"] and len(names) > 1 and names[1] in ENDS
    head = factors[1] if argument else factors[0]
    sense = {**ENDS, **ARGUMENTS}.get(names[1] if argument else names[0])
    if sense is None or not isinstance(head, Scripted) or head.sub is None:
        return None
    rest = product_node(factors[2:] if argument else factors[1:])
    name, entries, axes = _any_vector(reader, head.sub) or _feasible(reader, head.sub)
    free = entries if is_free(entries) else None
    body = Sum((("+", rest), *others)) if others else rest
    objective = sense * (reader if open_ else reader.within(**{name: entries})).value(body).number
    return PosedProblem(objective, axes, sense, not argument and names[0] not in ARGUMENTS, free)


def _parameter(reader: Reader, variable: Node | None) -> Node | None:
    """Return θ for p_θ if the notation defines p_θ as θ; any other variable unchanged."""
    meaning = reader.meaning(spelled(variable.base)) if isinstance(variable, Scripted) else None
    itself = isinstance(meaning, Definition) and meaning.pattern.subscripts == (spelled(meaning.body),)
    return variable.sub if itself and isinstance(variable, Scripted) else variable


def _any_vector(reader: Reader, sub: Node) -> tuple[str, Value, tuple[sp.Expr, ...]] | None:
    """Read λ or λ ∈ ℝ^d below a maximum, replaced by another vector; None unless it is declared as a free vector."""
    variable = sub.parts[0] if isinstance(sub, Chain) else sub
    value = reader.meaning(spelled(variable))
    domain = spelled(sub.parts[1]) if isinstance(sub, Chain) else "\\mathbb{R}"
    if not isinstance(value, Value) or not is_free(value) or not domain.startswith("\\mathbb{R}"):
        return None
    other = vector(f"other {plain(spelled(variable))}", *value.shape)
    return spelled(variable), Value(value.shape, lambda i: other[i]), value.shape


def is_free(value: Value) -> bool:
    """Return whether a value is a vector variable that may be any vector."""
    entry = value.entry(sp.S.One) if len(value.shape) == 1 else None
    label = entry.base.label if isinstance(entry, sp.Indexed) and len(entry.base.shape) == 1 else None
    return isinstance(label, Variable) and label.domain.is_whole


def _feasible(reader: Reader, sub: Node) -> tuple[str, Value, tuple[sp.Expr, ...]]:
    """Return the name of the optimization variable, the rival in its place, and its sizes."""
    listed = [spelled(part) for part in sub.parts] if isinstance(sub, Listing) else []
    first = sub.parts[0] if isinstance(sub, Listing) else sub
    variable = first.parts[0] if isinstance(first, Chain) else first
    domain = spelled(sub.parts[1]) if isinstance(sub, Chain) else ""
    if listed == [f"{spelled(variable)} \\ge 0", f"{spelled(variable)} \\mathbf{{1}} = \\mathbf{{1}}"]:
        domain = ROWS  # P ≥ 0, P1 = 1
    elif listed or (isinstance(sub, Chain) and sub.signs != ("\\in",)):
        raise LatexError(f"min: expected a minimum over a simplex, q \\in \\Delta, got {spelled(sub)}")
    variable = _parameter(reader, variable)
    row = variable.sub if isinstance(variable, Scripted) else None
    name = spelled(variable.base) if isinstance(variable, Scripted) and row is not None else spelled(variable)
    value = getattr(meaning := reader.meaning(name), "value", meaning)
    if not isinstance(value, Value) or not value.shape:
        raise LatexError(f"min: expected a point of a simplex that the notation declares, got {spelled(variable)}")
    base = getattr(value.entry(*(sp.Integer(1) for _ in value.shape)), "base", None)
    own = base.label.domain if base is not None else None
    plans = own is not None and own.line_sums == ((1, None),)
    sets = (
        (ROWS,) if plans and row is None else ("\\Delta", *(["\\mathbb{R}"] if INDICATOR in reader.notation.meanings else []))
    )
    if own is None or not own.unit_mass or (domain and not domain.startswith(tuple(sets))):
        raise LatexError(f"min: expected a minimum over a simplex, q \\in \\Delta, got {spelled(sub)}")
    if plans and row is None:
        matrix = rival("R", Stochastic, *value.shape)
        return name, Value(value.shape, lambda *indices: matrix[indices]), value.shape
    size = value.shape[-1]
    if isinstance(sub, Chain):
        check_dimension(reader, sub.parts[1], size)
    vector = rival("q", Simplex, size)
    if row is None:
        return name, Value((size,), lambda i: vector[i]), (size,)
    at = reader.subscript(row, value.shape[0])

    def entry(i: sp.Expr, j: sp.Expr) -> sp.Expr:
        if i != at:
            raise LatexError(f"min: expected row {at} of {name}, over which it is minimized, got row {i}")
        return vector[j]

    return name, Value(value.shape, entry), (size,)


def check_dimension(reader: Reader, domain: Node | None, size: sp.Expr) -> None:
    """Raise LatexError for a simplex Δ^k whose points do not have `size` entries: k is `size` or `size` − 1."""
    if not isinstance(domain, Scripted) or spelled(domain.base) != "\\Delta" or domain.sup is None:
        return
    if reader.value(domain.sup).number not in (size, size - 1):
        raise LatexError(f"{spelled(domain)}: expected the simplex of {size} numbers, got that of {spelled(domain.sup)}")


INDICATOR = "I_{\\Delta}"  # adds +∞ outside of the simplex, where it is declared
