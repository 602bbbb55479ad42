"""The intermediate forms by which the fixed script proves an equality, each as a `have` with the tactic that proves it.

Nothing here is trusted: a wrong form makes the proof fail.  A term is brought to a polynomial of atoms from the inside out;
every part that is no polynomial (a sum, a function, an inverse, a slope) gets a line of its own.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from derivations.rocq import polynomials as po
from derivations.rocq.polynomials import Monomial, Polynomial, alpha
from derivations.rocq.slopes import opened, slope
from derivations.rocq.statements import Facts, Scope
from derivations.rocq.sums import Summation
from derivations.rocq.terms import LEAVES, Environment, NotExportedError, Term, next_name, shifted, written

MOST_TERMS = 60  # of a polynomial
LONGEST_PROOF = 500_000  # letters; Rocq does not end with a longer one


@dataclass
class Certificate:
    """The lines of a proof in the making."""

    facts: Facts
    depth: int | None = None  # sums under so many indices that are bound stay as they are
    settles: bool = True  # whether exchanged sums have their factors in order again
    squares: bool = False  # whether the square of |x| is that of x
    halves: bool = False  # whether |x| is x₊ + (−x)₊, and (−x)₊ is x₊ − x
    lines: list[str] = field(default_factory=list)
    memory: dict[tuple[str, Scope], tuple[Polynomial, list[int]]] = field(default_factory=dict)
    scopes: dict[int, Scope] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    bound: int = 0
    letters: int = 0

    # ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def equal(self, left: Term, right: Term, tactic: str, scope: Scope, env: Environment) -> list[int]:
        """Write down that two terms are equal, if they are not the same up to the names of bound indices."""
        if alpha(left) == alpha(right):
            return []
        return self.have(written(left, env), written(right, env), tactic, scope)

    def have(self, left: str, right: str, tactic: str, scope: Scope) -> list[int]:
        """Write down left = right, quantified over the enclosing bound names; return the number of the line."""
        number = len(self.scopes) + 1
        self.scopes[number], self.lengths[number] = scope, len(left)
        binders = "".join(f" ({name} : {type})" for name, type in scope)
        names = "".join(f" {name}" for name, _ in scope)
        stated = f"forall{binders}, ({left} : R) = {right}" if scope else f"({left} : R) = {right}"
        introduced = f"move=>{names}; " if scope else ""
        self.lines.append(f"have H{number} : {stated}.\n{{ {introduced}{tactic}. }}")
        self.letters += len(self.lines[-1])
        if self.letters > LONGEST_PROOF:
            raise NotExportedError(f"a proof of more than {LONGEST_PROOF} letters")
        return [number]

    def used(self, number: int) -> str:
        """A line, applied to the enclosing bound names."""
        names = " ".join(name for name, _ in self.scopes[number])
        return f"(H{number} {names})" if names else f"H{number}"

    def rewriting(self, numbers: Sequence[int]) -> str:
        """A tactic that rewrites with lines, larger terms first, since a smaller one may be a part of them."""
        chosen = sorted(set(numbers), key=lambda n: (-self.lengths[n], -n))
        return "; ".join(f"put {self.used(n)}" for n in chosen) or "idtac"

    # ── normal forms ────────────────────────────────────────────────────────────────────────────────────────────────

    def normal(self, part: Term, scope: Scope = (), env: Environment | None = None) -> tuple[Polynomial, list[int]]:
        """The polynomial of a term, and the lines of its derivation."""
        env = env or {}
        text = written(alpha(part), env)
        named = set(re.findall(r"\w+", text))
        scope = tuple(each for each in scope if each[0] in named)  # a line is of use wherever its own indices are bound
        key = text, scope
        if key not in self.memory:
            self.memory[key] = self._normal(part, scope, env)
            if len(self.memory[key][0]) > MOST_TERMS:
                raise NotExportedError(f"a normal form of more than {MOST_TERMS} terms")
        return self.memory[key]

    def _normal(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        kind = part[0]
        if kind == "num":
            return po.constant(part[1]), []
        if kind == "dlt" and part[1] == part[2]:
            return po.ONE, []
        if kind == "dlt":
            ordered = (kind, *sorted(part[1:]))
            return po.of_atom(ordered), self.equal(part, ordered, "exact: dltC", scope, env)
        if kind in LEAVES:
            return po.of_atom(part), []
        if kind in ("neg", "add", "mul", "pow"):
            return self._arithmetic(part, scope, env)
        rule: Callable[[Term, Scope, Environment], tuple[Polynomial, list[int]]] = {
            "inv": self._inverse,
            "exp": self._exponential,
            "ln": self._logarithm,
            "sum": self._sum,
            "slope": self._slope,
            "xlogx": self._defined,
            "kl": self._defined,
            "rpow": self._defined,
            "plus": self._positive_part,
            "abs": self._absolute,
        }.get(kind, self._function)
        return rule(part, scope, env)

    def _arithmetic(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        if part[0] == "pow":
            inner, lines = self.normal(part[1], scope, env)
            result = po.ONE
            for _ in range(part[2]):
                result = po.times(result, inner)
            return self._reduced(result, scope, env), lines
        parts = [self.normal(each, scope, env) for each in part[1:]]
        lines = [n for _, each in parts for n in each]
        if part[0] == "neg":
            return po.scaled(parts[0][0], Fraction(-1)), lines
        if part[0] == "add":
            return po.plus(*(poly for poly, _ in parts)), lines
        result = po.ONE
        for poly, _ in parts:
            result = po.times(result, poly)
        return self._reduced(result, scope, env), lines

    def _reduced(self, poly: Polynomial, scope: Scope, env: Environment) -> Polynomial:
        """A polynomial without products of a slack variable; squares of absolute values are squares of their arguments."""
        if self.facts.slacks:
            poly = {each: c for each, c in poly.items() if not self._slack(each)}
        if not self.squares:
            return poly
        result: Polynomial = {}
        for each, c in poly.items():
            summand: Polynomial = {po.monomial((a, n % 2 if a[0] == "abs" and n > 1 else n) for a, n in each): c}
            for inner, n in ((a[1], n) for a, n in each if a[0] == "abs" and n > 1):
                for _ in range(n - n % 2):
                    summand = po.times(summand, self.normal(inner, scope, env)[0])
            result = po.plus(result, summand)
        return result

    def _slack(self, each: Monomial) -> bool:
        """Whether both a slack variable and its entry are factors of a monomial."""
        entries = {a[1:] for a, n in each if a[0] == "entry" and n > 0}
        return any((self.facts.slacks.get(name), place) in entries for name, place in entries)

    def _inverse(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        poly, lines = self.normal(part[1], scope, env)
        if not poly:
            raise NotExportedError("a division by 0")
        if set(poly) == {()}:  # no line: 2⁻¹ = 1/2 would be rewritten without end
            return po.constant(1 / poly[()]), lines
        c, common = po.content(poly)
        rest = po.divided(poly, c, common)
        result: Polynomial = {po.monomial([(a, -n) for a, n in common]): 1 / c}
        if rest != po.ONE:
            result = po.times(result, po.of_atom(po.as_term(rest), -1))
        tactic = f"{self.rewriting(lines)}; fld"
        return result, self.equal(part, po.as_term(result), tactic, scope, env)

    def _exponential(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        poly, lines = self.normal(part[1], scope, env)
        result, summands = po.ONE, []
        for each in po.ordered(poly):
            c = poly[each]
            base = each[0][0][1] if len(each) == 1 and each[0][1] == 1 and each[0][0][0] == "ln" else None
            if base is not None and c.denominator == 1 and self.is_positive(base):
                unit, n = each[0][0], c.numerator
                result = po.times(result, po.of_atom(base, n))
            else:
                unit, n = po.monomial_term(each, Fraction(1, c.denominator)), c.numerator
                result = po.times(result, po.of_atom(("exp", unit), n))
            multiple: Term = unit if abs(n) == 1 else ("mul", ("num", Fraction(abs(n))), unit)
            summands.append(("neg", multiple) if n < 0 else multiple)
        exponent: Term = ("num", Fraction(0)) if not summands else summands[0] if len(summands) == 1 else ("add", *summands)
        first = self.equal(part[1], exponent, f"{self.rewriting(lines)}; fld", scope, env)
        tactic = f"{self.rewriting(first)}; exps; fld"
        return result, self.equal(part, po.as_term(result), tactic, scope, env)

    def _logarithm(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        poly, lines = self.normal(part[1], scope, env)
        if not poly:
            raise NotExportedError("the logarithm of 0")
        c, common = po.content(poly)
        split = [(a, n) for a, n in common if self.is_positive(a)]
        if c < 0:
            c = Fraction(-1) * c if len(poly) > 1 else Fraction(1)
        rest = po.divided(poly, c, po.monomial(split))
        if len(rest) == 1 and rest != po.ONE and not split:
            c, rest = Fraction(1), poly
        if rest != po.ONE and not self.is_positive(po.as_term(rest)):
            c, split, rest = Fraction(1), [], poly
        result: Polynomial = {}
        factors: list[Term] = []
        for prime, n in [*_factors(c.numerator), *((p, -n) for p, n in _factors(c.denominator))]:
            result = po.plus(result, po.scaled(po.of_atom(("ln", ("num", Fraction(prime)))), Fraction(n)))
            factors.append(po.monomial_term(((("num", Fraction(prime)), n),)))
        for a, n in split:
            inner = self._logarithm_of(a, scope, env)
            result = po.plus(result, po.scaled(inner, Fraction(n)))
            factors.append(po.monomial_term(((a, n),)))
        if rest != po.ONE:
            result = po.plus(result, po.of_atom(("ln", po.as_term(rest))))
            factors.append(po.as_term(rest))
        product: Term = ("num", Fraction(1)) if not factors else factors[0] if len(factors) == 1 else ("mul", *factors)
        first = self.equal(part[1], product, f"{self.rewriting(lines)}; fld", scope, env)
        tactic = f"{self.rewriting(first)}; lns; fld"
        return result, self.equal(part, po.as_term(result), tactic, scope, env)

    def _logarithm_of(self, atom: Term, scope: Scope, env: Environment) -> Polynomial:
        """The logarithm of a positive atom."""
        if atom[0] == "exp":
            return self.normal(atom[1], scope, env)[0]
        if atom[0] == "sqrt":
            return po.scaled(self.normal(("ln", atom[1]), scope, env)[0], Fraction(1, 2))
        return po.of_atom(("ln", atom))

    def _defined(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        """The definition of a function that is an abbreviation in the library."""
        poly, lines = self.normal(opened(part), scope, env)
        ends = [f"{self.rewriting(lines)}; fld"]
        if part[0] == "rpow" and lines:  # its numbers may be those of another structure of R
            ends.append(f"rewrite {' '.join(f'?{self.used(n)}' for n in lines)}; fld")
        end = ends[0] if len(ends) == 1 else f"first [{' | '.join(ends)}]"
        tactic = f"rewrite /kl /xlogx /exp_fun; {end}"
        return poly, self.equal(part, po.as_term(poly), tactic, scope, env)

    def _function(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        """A function of which nothing is known."""
        parts, lines = [], []
        for each in part[1:]:
            poly, inner = self.normal(each, scope, env)
            parts.append(po.as_term(poly))
            lines += self.equal(each, parts[-1], f"{self.rewriting(inner)}; fld", scope, env)
        result = (part[0], *parts)
        return po.of_atom(result), self.equal(part, result, f"by ({self.rewriting(lines)})", scope, env)

    def _positive_part(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        """Rewrite (p − μ)₊ as p, where μ is the slack variable of p, and (−x)₊ as x₊ − x."""
        poly, lines = self.normal(part[1], scope, env)
        for slack, vector in self.facts.slacks.items():
            entries = [(("entry", vector, a[2]), a) for each in poly for a, _ in each if a[:2] == ("entry", slack)]
            for own, other in entries:
                if poly == po.plus(po.of_atom(own), po.scaled(po.of_atom(other), Fraction(-1))):
                    tactic = (
                        f"apply: (@plus_slack R _ _ {written(other, env)}); [{self.rewriting(lines)}; fld | "
                        f"exact: {vector}_ge0 | exact: {slack}_ge0 | exact: {slack}_slack]"
                    )
                    return po.of_atom(own), self.equal(part, own, tactic, scope, env)
        if not self.halves or po.leads(poly):
            return self._function(part, scope, env)
        half: Term = ("plus", po.as_term(po.scaled(poly, Fraction(-1))))
        sides = half, po.as_term(poly)
        return self._halved(part, po.plus(po.of_atom(half), poly), sides, "plus_opp", scope, env)

    def _absolute(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        """Rewrite |x| as 2 x₊ − x, for x or −x."""
        poly, _ = self.normal(part[1], scope, env)
        if not self.halves or not poly:
            return self._function(part, scope, env)
        inner = poly if po.leads(poly) else po.scaled(poly, Fraction(-1))
        half: Term = ("plus", po.as_term(inner))
        result = po.plus(po.scaled(po.of_atom(half), Fraction(2)), po.scaled(inner, Fraction(-1)))
        sides: tuple[Term, Term] = ("mul", ("num", Fraction(2)), half), ("neg", po.as_term(inner))
        return self._halved(part, result, sides, "abs_plus" if inner is poly else "abs_opp", scope, env)

    def _halved(
        self, part: Term, result: Polynomial, summands: tuple[Term, Term], lemma: str, scope: Scope, env: Environment
    ) -> tuple[Polynomial, list[int]]:
        """Rewrite a part as the sum of two summands, by a lemma about its argument."""
        poly, lines = self.normal(part[1], scope, env)
        lines = self.equal(part[1], po.as_term(poly), f"{self.rewriting(lines)}; fld", scope, env)
        between = " + ".join(written(each, env) for each in summands)
        tactic = f"{self.rewriting(lines)}; transitivity (({between}) : R); [apply: {lemma}; fld | fld]"
        return result, self.equal(part, po.as_term(result), tactic, scope, env)

    def _slope(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        _, by, body = part
        variable = next_name(env)
        inside, deeper = (*scope, (variable, "R")), shifted(by, variable, env)
        steps: list[str] = []
        body = opened(body)
        steps.append("rewrite /kl /xlogx /exp_fun")
        inner = self._without_slopes(body, inside, deeper)
        if inner != body:
            lines = self.inner_slopes(body, inside, deeper)
            function = f"(fun {variable} : R => {written(inner, deeper)})"
            steps.append(
                f"rewrite (_ : (fun {variable} : R => _) = {function}); last (apply/funext => {variable}; "
                f"{self.rewriting(lines)}; first [reflexivity | fld])"
            )
        value = slope(inner, by)
        steps.append(
            "apply: slope; notypeclasses refine (is_derive_val _ _); "
            "[derive | cbv beta; rewrite ?upd1_id ?upd2_id; first [reflexivity | fld]]"
        )
        first = self.equal(part, value, "; ".join(steps), scope, env)
        poly, lines = self.normal(value, scope, env)
        tactic = f"{self.rewriting(first)}; {self.rewriting(lines)}; fld"
        return poly, self.equal(part, po.as_term(poly), tactic, scope, env)

    def _without_slopes(self, part: Term, scope: Scope, env: Environment) -> Term:
        """A term with the slopes in it carried out; each has a line."""
        if part[0] == "slope":
            return po.as_term(self.normal(part, scope, env)[0])
        if part[0] in LEAVES:
            return part
        if part[0] == "sum":
            return (*part[:3], self._without_slopes(part[3], (*scope, (part[1], f"'I_{part[2]}")), env))
        if part[0] == "pow":
            return ("pow", self._without_slopes(part[1], scope, env), part[2])
        return (part[0], *(self._without_slopes(each, scope, env) for each in part[1:]))

    def inner_slopes(self, part: Term, scope: Scope, env: Environment) -> list[int]:
        """The lines of the slopes in a term outside of all sums."""
        if part[0] == "slope":
            return self.normal(part, scope, env)[1]
        if part[0] in {*LEAVES, "sum"}:
            return []
        parts = part[1:2] if part[0] == "pow" else part[1:]
        return [n for each in parts for n in self.inner_slopes(each, scope, env)]

    # ── sums ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _sum(self, part: Term, scope: Scope, env: Environment) -> tuple[Polynomial, list[int]]:
        if self.depth is not None and sum(type != "R" for _, type in scope) >= self.depth:
            return po.of_atom(alpha(part)), []
        _, bound, size, body = part
        inside = (*scope, (bound, f"'I_{size}"))
        poly, lines = self.normal(body, inside, env)
        if not poly:
            tactic = (
                f"transitivity (\\Sum_({bound} < {size}) (0 : R)); [apply: eq_total => {bound}; "
                f"{self.rewriting(lines)}; fld | exact: sum_nil]"
            )
            return {}, self.have(written(part, env), "0", tactic, scope)
        summation = Summation(self, bound, size, scope, env)
        terms, results, uses = [], [], []
        for each in po.ordered(poly):
            as_written, result, line = summation.of(each, poly[each])
            terms.append(as_written)
            results.append(result)
            uses += line
        sum_of_terms = " + ".join(terms)
        apart = " + ".join(f"(\\Sum_({bound} < {size}) {each})" for each in terms)
        result = po.plus(*results)
        split = "" if len(terms) == 1 else f" transitivity (({apart}) : R); first by apart."
        tactic = (
            f"transitivity ((\\Sum_({bound} < {size}) ({sum_of_terms})) : R). "
            f"{{ apply: eq_total => {bound}; {self.rewriting(lines)}; fld. }}{split} {self.rewriting(uses)}; fld"
        )
        return result, self.equal(part, po.as_term(result), tactic, scope, env)

    def fresh(self) -> str:
        """A name for an index that is bound nowhere else in the proof."""
        self.bound += 1
        return f"y{self.bound}"

    # ── signs ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def is_positive(self, part: Term) -> bool:
        """Whether a term in normal form is seen to be positive; the script has to see it, too."""
        kind = part[0]
        if kind == "num":
            return bool(part[1] > 0)
        if kind in ("var", "entry"):
            return part[1] in self.facts.positive
        if kind in ("pi", "exp", "size", "position", "rpow"):
            return True
        if kind == "sum":
            factors = part[3][1:] if part[3][0] == "mul" else part[3:]
            return all(self.is_positive(each) or self._has_mass(each, part[1]) for each in factors)
        if kind in ("add", "mul"):
            return all(map(self.is_positive, part[1:]))
        return kind in ("inv", "pow", "sqrt") and self.is_positive(part[1])

    def _has_mass(self, part: Term, bound: str) -> bool:
        """Whether a part is an entry ≥ 0 of a vector that sums to 1 over this index."""
        return part[0] == "entry" and part[1] in self.facts.masses and part[2] == (bound,)


def _factors(n: int) -> list[tuple[int, int]]:
    """The prime factors of a number."""
    factors, p = [], 2
    while n > 1:
        count = 0
        while n % p == 0:
            n, count = n // p, count + 1
        if count:
            factors.append((p, count))
        p += 1
    return factors
