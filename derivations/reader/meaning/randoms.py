"""Means and variances of random vectors, E⟨q, k⟩ and Var Σ_t p_t z_t: entries are independent with mean 0 and variance 1."""

from derivations.calculus import moments
from derivations.calculus.variables import Variable
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Value, scalar
from derivations.reader.syntax.tree import LatexError, Node, Operator, spelled

OF = {"expectation": moments.expectation, "variance": moments.variance}


def moment(reader: Reader, operator: str, rest: list[Node]) -> Value:
    """Return the mean or variance of what follows; raises LatexError if nothing in it is random, since no law is given."""
    if not rest or operator not in OF:
        raise LatexError(f"{operator}: missing distribution as subscript")
    first = rest[0]
    argument = reader.next(rest)
    if rest and not isinstance(rest[0], Operator):
        raise LatexError(f"{operator}: expected brackets around what follows, got {spelled(first)} {spelled(rest[0])}")
    names = argument.number.atoms(Variable) if not argument.shape else set()
    if not any(each.domain.is_random for each in names):
        raise LatexError(f"{operator}: expected a distribution as subscript, or a random vector of the notation")
    return scalar(OF[operator](argument.number))
