"""Matrix facts for every size: words of non-commutative symbols, rewritten by the rules that define the matrices.

A word is a product of non-commutative SymPy symbols; a rule replaces a subword.  (I + αΣ)⁻¹ is the symbol R with the
rules RΣ → (I − R)/α and ΣR → (I − R)/α.  A model (exact matrices that obey the rules) refutes a false identity.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

Word = tuple[sp.Symbol, ...]


def matrices(names: str) -> tuple[sp.Symbol, ...]:
    """Non-commutative symbols, one for each name."""
    return tuple(sp.symbols(names, commutative=False, seq=True))


@dataclass(frozen=True)
class Rules:
    """Subword → expression; each application must make the word shorter or simpler, or `reduce` gives up."""

    table: Mapping[Word, sp.Expr]
    limit: int = 200

    def reduce(self, expr: sp.Expr) -> sp.Expr:
        """Rewrite until no rule applies; raises RecursionError when the rules go round in circles."""
        expr = sp.expand(expr)
        for _ in range(self.limit):
            new = sp.expand(sp.Add(*[self._once(term) for term in sp.Add.make_args(expr)]))
            if new == expr:
                return expr
            expr = new
        raise RecursionError(f"rules: no normal form after {self.limit} rounds for {expr}")

    def equal(self, left: sp.Expr, right: sp.Expr) -> bool:
        """Whether the sides reduce to the same words; False means undecided, never different."""
        coefficients: dict[sp.Expr, sp.Expr] = defaultdict(lambda: sp.S.Zero)
        for term in sp.Add.make_args(self.reduce(left - right)):
            scalars, word = term.args_cnc()
            coefficients[sp.Mul(*word)] += sp.Mul(*scalars)
        return all(sp.simplify(c) == 0 for c in coefficients.values())

    def _once(self, term: sp.Expr) -> sp.Expr:
        scalars, word = term.args_cnc() if term.is_Mul else ([], [term])
        letters: list[sp.Expr] = []
        for factor in word:
            base, exponent = factor.as_base_exp()
            letters += [base] * int(exponent) if exponent.is_Integer and exponent > 0 else [factor]
        for pattern, replacement in self.table.items():
            for start in range(len(letters) - len(pattern) + 1):
                if tuple(letters[start : start + len(pattern)]) == pattern:
                    return sp.Mul(*scalars, *letters[:start], replacement, *letters[start + len(pattern) :])
        return term

    def differ(self, left: sp.Expr, right: sp.Expr, model: Mapping[sp.Symbol, sp.Matrix]) -> bool:
        """Whether the sides are different exact matrices in a model of the rules.

        Raises ValueError when the model breaks a rule: such a model refutes nothing.
        """
        for pattern, replacement in self.table.items():
            if evaluate(sp.Mul(*pattern), model) != evaluate(replacement, model):
                raise ValueError(f"model: it breaks the rule {'·'.join(map(str, pattern))} → {replacement}")
        return bool(evaluate(left, model) != evaluate(right, model))


def evaluate(expr: sp.Expr, model: Mapping[sp.Symbol, sp.Matrix]) -> sp.Matrix:
    """The exact matrix of a non-commutative polynomial; a bare scalar stands for that multiple of the identity.

    Raises ValueError for an entry that is not rational: only rational entries are equal when they look equal.
    """
    any_matrix = next(value for value in model.values() if isinstance(value, sp.MatrixBase))
    value = None
    for term in sp.Add.make_args(sp.expand(expr)):
        scalars, word = term.args_cnc() if term.is_Mul else ([term], []) if term.is_commutative else ([], [term])
        factor = sp.Mul(*[s.xreplace(dict(model)) for s in scalars])
        matrix = None
        for letter in word:
            base, exponent = letter.as_base_exp()
            power = model[base] ** exponent
            matrix = power if matrix is None else matrix * power
        part = factor * (matrix if matrix is not None else sp.eye(any_matrix.rows))
        value = part if value is None else value + part
    result = sp.Matrix(value)
    if not all(entry.is_Rational for entry in result):
        raise ValueError(f"model: expected rational entries, got {result.tolist()} for {expr}")
    return result
