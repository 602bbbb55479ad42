"""The sum of one monomial over an index: a constant times the size, an entry, a mass, or an irreducible sum.

Nested sums are sorted; the steps (a factor moves into a sum, two sums are exchanged) are recorded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Protocol

from derivations.rocq import polynomials as po
from derivations.rocq.polynomials import Monomial, Polynomial
from derivations.rocq.statements import Facts, Scope
from derivations.rocq.terms import Environment, Term, indices, renamed, written

MOST_BOUND = 4  # indices of a nest of sums whose orders are all tried


class Lines(Protocol):
    """The proof in the making, to which a sum adds its lines."""

    facts: Facts
    settles: bool

    def normal(self, part: Term, scope: Scope = (), env: Environment | None = None) -> tuple[Polynomial, list[int]]:
        """The polynomial of a term, and the lines of its derivation."""
        ...

    def equal(self, left: Term, right: Term, tactic: str, scope: Scope, env: Environment) -> list[int]:
        """A line that two terms are equal, if they are not the same."""
        ...

    def have(self, left: str, right: str, tactic: str, scope: Scope) -> list[int]:
        """A line that left = right."""
        ...

    def rewriting(self, numbers: Sequence[int]) -> str:
        """A tactic that uses lines."""
        ...

    def fresh(self) -> str:
        """A name for an index that is bound nowhere else in the proof."""
        ...


@dataclass(frozen=True)
class Flat:
    """A nest of sums as one product: the indices from the outside in with their sizes, and the factors."""

    ranges: tuple[tuple[str, str], ...]
    factors: Monomial


@dataclass
class Summation:
    """Σ over one index, in the scope of the enclosing bound names."""

    certificate: Lines
    bound: str
    size: str
    scope: Scope
    env: Environment

    def of(self, each: Monomial, c: Fraction) -> tuple[str, Polynomial, list[int]]:
        """The summand as written, the value of its sum, and the line that proves it."""
        inside = tuple((a, n) for a, n in each if self.bound in indices(a))
        outside = tuple((a, n) for a, n in each if self.bound not in indices(a))
        if not inside:
            return self._constant(outside, c)
        if (delta := next((a for a, n in inside if a[0] == "dlt" and n > 0), None)) is not None:
            return self._delta(delta, inside, outside, c)
        if (mass := self._mass(inside)) is not None:
            return self._known(inside, outside, c, *mass)
        if any(a[0] == "sum" and n > 0 for a, n in inside):
            return self._nested(inside, outside, c)
        return self._pulled(inside, outside, c, self.atom(inside))

    # ── what a sum is ───────────────────────────────────────────────────────────────────────────────────────────────

    def atom(self, inside: Monomial) -> Term:
        """The irreducible sum, whose index is named by the number of sums inside."""
        return named_sum(self.bound, self.size, inside)

    def _constant(self, outside: Monomial, c: Fraction) -> tuple[str, Polynomial, list[int]]:
        value = po.monomial_term(outside, c)
        result = po.times(
            {outside: c}, po.of_atom(size_term(self.size)) if not self.size.isdigit() else po.constant(int(self.size))
        )
        summand = written(value, self.env)
        return self._line(summand, result, f"rewrite (@sum_const R {self.size} {summand}); fld")

    def _pulled(self, inside: Monomial, outside: Monomial, c: Fraction, total: Term) -> tuple[str, Polynomial, list[int]]:
        """Keep the sum without its constant factors; naming its index may change the order of its factors."""
        own = po.monomial_term(inside)
        lines = self.certificate.equal(
            ("sum", self.bound, self.size, own), total, f"apply: eq_total => {self.bound}; fld", self.scope, self.env
        )
        summand = self._product(outside, c, own)
        if not outside and c == 1:
            return summand, po.of_atom(total), lines
        tactic = f"rewrite {self._pull(outside, c, own)}; {self.certificate.rewriting(lines)}; fld"
        return self._line(summand, po.times({outside: c}, po.of_atom(total)), tactic)

    def _delta(self, delta: Term, inside: Monomial, outside: Monomial, c: Fraction) -> tuple[str, Polynomial, list[int]]:
        other = delta[2] if delta[1] == self.bound else delta[1]
        rest = tuple((a, n) for a, n in inside if a != delta)
        one = po.monomial_term(rest)
        replaced = renamed(one, {self.bound: other})
        poly, lines = self.certificate.normal(replaced, self.scope, self.env)
        summand = self._product(outside, c, ("mul", delta, one))
        result = po.times({outside: c}, poly)
        lemma = "sum_dlt" if delta[1] == self.bound else "sum_dltC"
        function = f"(fun {self.bound} => {written(one, self.env)})"
        pull = self._pull(outside, c, ("mul", delta, one))
        tactic = f"rewrite {pull}({lemma} _ {function}); {self.certificate.rewriting(lines)}; fld"
        return self._line(summand, result, tactic)

    def _mass(self, inside: Monomial) -> tuple[Polynomial, str] | None:
        """The known sum of an entry, and the hypothesis that states it."""
        facts = self.certificate.facts
        (part, n), *others = inside
        if others or n != 1:
            return None
        if part[0] == "entry" and part[1] in facts.masses and part[2] == (self.bound,):
            return po.ONE, facts.masses[part[1]]
        if part[0] == "entry" and len(part[2]) == 2 and part[2].count(self.bound) == 1:
            axis = part[2].index(self.bound)
            known = facts.marginals.get((part[1], axis))
            if known:
                vector, hypothesis = known
                other = part[2][1 - axis]
                return (po.of_atom(("entry", vector, (other,))) if vector else po.ONE), f"({hypothesis} {other})"
        if part[0] == "sum" and part[3][0] == "entry" and part[3][1] in facts.masses and len(part[3][2]) == 2:
            if part[3][2] == (self.bound, part[1]):
                return po.ONE, facts.masses[part[3][1]]
            if part[3][2] == (part[1], self.bound):
                return po.ONE, f"total_exchange {facts.masses[part[3][1]]}"
        return None

    def _known(
        self, inside: Monomial, outside: Monomial, c: Fraction, value: Polynomial, hypothesis: str
    ) -> tuple[str, Polynomial, list[int]]:
        own = po.monomial_term(inside)
        tactic = f"rewrite {self._pull(outside, c, own)}{hypothesis}; fld"
        return self._line(self._product(outside, c, own), po.times({outside: c}, value), tactic)

    def _pull(self, outside: Monomial, c: Fraction, inner: Term) -> str:
        """The lemma that moves a factor out of the sum, if there is one."""
        if not outside and c == 1:
            return ""
        factor, summand = written(po.monomial_term(outside, c), self.env), written(inner, self.env)
        return f"(@sum_pull R {self.size} {factor} (fun {self.bound} => {summand})) "

    def _product(self, outside: Monomial, c: Fraction, inner: Term) -> str:
        if not outside and c == 1:
            return written(inner, self.env)
        return f"({written(po.monomial_term(outside, c), self.env)} * {written(inner, self.env)})"

    def _line(self, summand: str, result: Polynomial, tactic: str) -> tuple[str, Polynomial, list[int]]:
        left = f"(\\Sum_({self.bound} < {self.size}) {summand})"
        right = written(po.as_term(result), self.env)
        return summand, result, self.certificate.have(left, right, tactic, self.scope)

    # ── sums inside of sums ─────────────────────────────────────────────────────────────────────────────────────────

    def _nested(self, inside: Monomial, outside: Monomial, c: Fraction) -> tuple[str, Polynomial, list[int]]:
        flat, opening = self._flattened(inside)
        if len(flat.ranges) > MOST_BOUND:
            return self._pulled(inside, outside, c, self.atom(inside))
        eliminated = self._eliminable(flat)
        if eliminated is not None:
            order = (*(r for r in flat.ranges if r[0] != eliminated), *(r for r in flat.ranges if r[0] == eliminated))
            body: Term = po.monomial_term(flat.factors)
            target: Term = body
            for name, size in reversed(order):
                target = ("sum", name, size, target)
            poly, lines = self.certificate.normal(target, self.scope, self.env)
            return self._reordered(inside, outside, c, flat, opening, order, poly, lines)
        nests = {each: nest(each, flat.factors) for each in permutations(flat.ranges)}
        if self.certificate.settles:
            nests = {each: settled(part) for each, part in nests.items()}
        order, best = min(nests.items(), key=lambda item: po.key(item[1]))
        if best == named_sum(self.bound, self.size, inside):
            return self._pulled(inside, outside, c, best)
        return self._reordered(inside, outside, c, flat, opening, order, po.of_atom(best), [], best)

    def _flattened(self, inside: Monomial) -> tuple[Flat, str]:
        """The nest as one product, and the tactic that opens it from the outside in."""
        ranges, factors = [(self.bound, self.size)], list(inside)
        tactic = ""
        while True:
            inner = next(((a, n) for a, n in factors if a[0] == "sum" and n > 0 and a[3] is not None), None)
            if inner is None:
                break
            (part, n) = inner
            factors.remove(inner)
            if n > 1:
                factors.append((part, n - 1))
            name = self.certificate.fresh()
            body = renamed(part[3], {part[1]: name})
            rest = po.monomial_term(po.monomial(factors))
            product = f"{written(rest, self.env)} * (\\Sum_({name} < {part[2]}) {written(body, self.env)})"
            tactic += f" transitivity ({product} : R); first by fld. apply: pulled => {name}."
            ranges.append((name, part[2]))
            factors += as_factors(body)
            factors = list(po.monomial(factors))
        return Flat(tuple(ranges), po.monomial(factors)), tactic

    def _eliminable(self, flat: Flat) -> str | None:
        """An index over which the product can be summed by itself: a delta, a marginal, or a sum that is a denominator."""
        facts = self.certificate.facts
        for name, size in reversed(flat.ranges):
            mine = tuple((a, n) for a, n in flat.factors if name in indices(a))
            if any(a[0] == "dlt" and n > 0 for a, n in mine):
                return name
            if (
                len(mine) == 1
                and mine[0][1] == 1
                and mine[0][0][0] == "entry"
                and len(mine[0][0][2]) == 2
                and mine[0][0][2].count(name) == 1
                and (mine[0][0][1], mine[0][0][2].index(name)) in facts.marginals
            ):
                return name
            if mine and (named_sum(name, size, mine), -1) in {(a, max(n, -1)) for a, n in flat.factors}:
                return name
        return None

    def _reordered(
        self,
        inside: Monomial,
        outside: Monomial,
        c: Fraction,
        flat: Flat,
        opening: str,
        order: tuple[tuple[str, str], ...],
        poly: Polynomial,
        lines: list[int],
        best: Term | None = None,
    ) -> tuple[str, Polynomial, list[int]]:
        """The line of a nest in another order."""
        body = written(po.monomial_term(flat.factors), self.env)

        def sums(ranges: tuple[tuple[str, str], ...]) -> str:
            return "".join(f"\\Sum_({name} < {size}) " for name, size in ranges) + body

        own = po.monomial_term(inside)
        nested = f"(\\Sum_({self.bound} < {self.size}) {written(own, self.env)})"
        steps = f"transitivity ({sums(flat.ranges)} : R). {{ apply: eq_total => {self.bound}.{opening} fld. }} "
        current = list(flat.ranges)
        for position, target in enumerate(order):
            for back in range(current.index(target), position, -1):
                after = [*current[: back - 1], current[back], current[back - 1], *current[back + 1 :]]
                deep = f"do {back - 1}! (apply: eq_total => ?); " if back > 1 else ""
                steps += f"transitivity ({sums(tuple(after))} : R). {{ {deep}exact: total_exchange. }} "
                current = after
        if best is None:
            steps += f"{self.certificate.rewriting(lines)}; fld"
        else:
            steps += f"symmetry.{closing(best, order, self.env)}"
        line = self.certificate.have(nested, written(po.as_term(poly), self.env), steps, self.scope)
        summand = self._product(outside, c, own)
        if not outside and c == 1:
            return summand, poly, line
        pull = f"rewrite {self._pull(outside, c, own)}; {self.certificate.rewriting(line)}; fld"
        return self._line(summand, po.times({outside: c}, poly), pull)


def as_factors(part: Term) -> list[tuple[Term, int]]:
    """The factors of a monomial written as a term."""
    if part[0] == "mul":
        return [factor for each in part[1:] for factor in as_factors(each)]
    if part[0] == "pow":
        return [(a, n * part[2]) for a, n in as_factors(part[1])]
    if part[0] == "inv":
        return [(part[1], -1)]
    return [] if part == ("num", Fraction(1)) else [(part, 1)]


def size_term(size: str) -> Term:
    """A size as a number."""
    return ("size", size)


def named_sum(bound: str, size: str, factors: Monomial) -> Term:
    """Σ of a product, the index named by how many sums are inside."""
    name, parts = po.named(bound, (a for a, _ in factors))
    body = po.monomial(zip(parts, (n for _, n in factors), strict=True))
    return ("sum", name, size, po.monomial_term(body))


def nest(order: tuple[tuple[str, str], ...], factors: Monomial) -> Term:
    """Sums inside of each other in this order, each factor as far outside as it can be."""
    (name, size), *rest = order
    later = {other for other, _ in rest}
    here = tuple((a, n) for a, n in factors if not indices(a) & later)
    inner = tuple((a, n) for a, n in factors if indices(a) & later)
    if not rest:
        return named_sum(name, size, factors)
    return named_sum(name, size, po.monomial([*here, (nest(tuple(rest), inner), 1)]))


def settled(part: Term) -> Term:
    """A nest with the factors of each product sorted again, since they are sorted by the names of indices, which changed."""
    factors = [(settled(a) if a[0] == "sum" and n == 1 else a, n) for a, n in as_factors(part[3])]
    return (*part[:3], po.monomial_term(po.monomial(factors)))


def closing(best: Term, order: tuple[tuple[str, str], ...], env: Environment) -> str:
    """The tactic that opens the nest in its new order."""
    steps, factors = "", [(best, 1)]
    for position, (name, _) in enumerate(order):
        part = next(a for a, n in factors if a[0] == "sum" and n == 1 and _same_nest(a, order, position))
        others = [factor for factor in factors if factor[0] is not part]
        body = renamed(part[3], {part[1]: name})
        if position:
            rest = po.monomial_term(po.monomial(others))
            steps += (
                f" transitivity ({written(rest, env)} * (\\Sum_({name} < {part[2]}) {written(body, env)}) : R); "
                f"first by fld. apply: pulled => {name}."
            )
        else:
            steps += f" apply: eq_total => {name}."
        factors = [*others, *as_factors(body)]
    return steps + " fld"


def _same_nest(part: Term, order: tuple[tuple[str, str], ...], position: int) -> bool:
    """Whether a sum is the nest of the remaining indices."""
    return part[2] == order[position][1] and po.height(part) >= len(order) - position
