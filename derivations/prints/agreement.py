"""Compare a printed formula with its derivation: it agrees, differs at a witness, or could not be read or compared."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import sympy as sp

from derivations.calculus import defined, sums
from derivations.calculus.balls import digits
from derivations.calculus.screening import Facts
from derivations.calculus.variables import Variable, variables_of
from derivations.prints.expansions import differs
from derivations.prints.expressions import Values, named, namings
from derivations.prints.matching import COMPARED, LOGS, RESIDUAL, Match, by_the_table, defined_in, match, shown
from derivations.reader.meaning.assertions import Assertion, Link, Minimizer, Optimum, Shown
from derivations.reader.meaning.links import links
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.remainders import Expanded
from derivations.reader.meaning.statements import cancelled
from derivations.records import rendering
from derivations.records.normal_form import Sign
from derivations.records.prints import Check, Standing
from derivations.relations import Expansion, Relation
from derivations.relations.base import ORDERS, Hypothesis
from derivations.relations.witnesses import inputs

WITHOUT_VALUE = "it is not shown that {}, without which the print has no value"


def check(
    latex: str,
    notation: Notation,
    known: frozenset[str],
    steps: Sequence[Relation],
    *,
    defines: bool = False,
    before: str | None = None,
) -> Check:
    """Compare a formula with the steps of a derivation; the last step is the statement."""
    try:
        chain = links(latex, notation, before)
    except ValueError as error:
        return Check(Standing.UNREAD, "", str(error))
    except Exception as error:
        return Check(Standing.UNREAD, "", f"{type(error).__name__}: {error}")
    reading = "; ".join(map(str, chain))
    reasons: list[str] = []
    certain = False
    for number, link in enumerate(chain, start=1):
        outcome, reason = _of_link(link, steps, known, defines)
        if (
            outcome is Standing.DIFFERS
            and steps[-1].disproved
            and any(_joined(chain[at:number]) for at, each in enumerate(reasons) if f"(step {len(steps)})" in each)
        ):
            outcome, reason = Standing.AGREES, f"not compared, as the formula fails already ({reason})"
        if outcome is Standing.DIFFERS and any(f", {way}," in each for each in reasons for way in (RESIDUAL, LOGS)):
            outcome = Standing.APART  # after one condition on unknowns, the next need not hold for all
        label = f"link {number}: " if len(chain) > 1 else ""
        if outcome is Standing.APART and _trivial(link):
            outcome, reason = Standing.AGREES, "the table makes both sides equal"
        else:
            certain = True
        if outcome is not Standing.AGREES:
            return Check(outcome, reading, label + reason)
        reasons.append(label + reason)
    if not certain:
        return Check(Standing.APART, reading, "the table makes all sides equal, and no step shows the definition")
    if steps[-1].disproved and not any(f"(step {len(steps)})" in each for each in reasons):
        return Check(Standing.APART, reading, "the disproved statement is none of its links")
    if not steps[-1].disproved and (missing := _cancelled(chain, steps[-1])):
        return Check(Standing.APART, reading, WITHOUT_VALUE.format(missing))
    return Check(Standing.AGREES, reading, "; ".join(reasons))


def defines_otherwise(latex: str, notation: Notation, before: str | None = None) -> str:
    """Return where a definition differs from the table; empty if it does not."""
    for link in links(latex, notation, before):
        if link.assertion.sign is Sign.EQUAL:
            values = Values(variables_of(sp.Tuple(*link.assertion.sides)))
            if (at := values.apart(*link.assertion.sides)) is not None:
                return f"it differs from the table's definition: {_shown_at(values, at, *link.assertion.sides)}"
    return ""


def _joined(chain: Sequence[Link]) -> bool:
    """Return whether links are a chain a = b = c, which fails if one of them is disproved, whatever the others say."""
    return all(sums.alike(one.assertion.sides[-1], other.assertion.sides[0]) for one, other in pairwise(chain))


def _of_link(link: Link, steps: Sequence[Relation], known: frozenset[str], defines: bool) -> tuple[Standing, str]:
    order = sorted(range(len(steps)), key=lambda at: -at)
    link = replace(link, premises=tuple(each for each in link.premises if not by_the_table(each)))
    if link.premises and all(any(match(Link(each), step, known) for step in steps) for each in link.premises):
        link = replace(link, premises=())  # its premises are proved too
    for at in order:
        if matched := match(link, steps[at], known):
            if steps[at].disproved and not steps[-1].disproved:
                return Standing.DIFFERS, f"step {at + 1} disproves it"
            if (
                matched.way in (RESIDUAL, LOGS)
                and 0 not in link.assertion.sides
                and (why := _another_side(link.assertion, steps, known))
            ):
                return Standing.DIFFERS, why
            if not steps[-1].disproved and (condition := _unshown(link.assertion, matched, steps[at])):
                return Standing.APART, WITHOUT_VALUE.format(condition)
            return Standing.AGREES, _words(matched, at, len(steps))
    ordered = link.assertion.sign in ORDERS
    shows = (defines and not ordered) or _trivial(link) or isinstance(link.assertion, Shown)
    if shows and not link.premises:
        for at in order:
            if matched := defined_in(link.assertion, steps[at], known):
                return Standing.AGREES, _words(matched, at, len(steps))
    if defines and ordered:  # two sides define a set or a constraint
        found_in = [_where_shown(side, steps, known) for side in link.assertion.sides if variables_of(side)]
        if found_in and all(found_in):
            return Standing.AGREES, f"its sides are shown in step {' and step '.join(str(at) for at in sorted(set(found_in)))}"
    if why := _difference(link, steps, known, defines):
        return Standing.DIFFERS, why
    if not _trivial(link) and not link.premises and _proved(link):
        return Standing.AGREES, "proved as read; no step states both sides"
    return Standing.APART, f"no step states it, and nothing decides between them: {link}"


def _cancelled(chain: Sequence[Link], statement: Relation) -> defined.Condition | None:
    """Return what a logarithm or root of a formula requires that was cancelled as it was read, and is not shown."""
    premises = [each for link in chain for each in link.premises]
    sides = [side for each in (*premises, *(link.assertion for link in chain)) for side in each.sides]
    facts = (*_facts(statement), *(each.fact for each in premises if isinstance(each, Hypothesis)))
    return cancelled(chain[0].required, sides, facts)


def _facts(step: Relation) -> Facts:
    return tuple(fact for each in (step, *step.core.premises) for fact in each.facts())


def _unshown(assertion: Assertion, matched: Match, step: Relation) -> defined.Condition | None:
    """Return a condition for the print to have a value that neither the table nor the step has or shows; None if there is none.

    The points at which both sides are compared lie inside of the domains, where q_j/q_j is 1.
    """
    if not any(map(defined.undefined, assertion.sides)):
        return None
    facts = _facts(step)
    for printed, proved in matched.pairs:
        own = {*defined.conditions(proved)}
        beyond = (each for each in dict.fromkeys(defined.conditions(printed)) if each not in own)
        if missing := next((each for each in beyond if not defined.shown(each, facts)), None):
            return missing
    return None


def _where_shown(expr: sp.Expr, steps: Sequence[Relation], known: frozenset[str]) -> int:
    """Return the number of a step that contains an expression; 0 if there is none."""
    return next((at for at, step in enumerate(steps, start=1) if defined_in(Shown(expr), step, known)), 0)


def _words(matched: Match, at: int, count: int) -> str:
    where = "the statement" if at == count - 1 else f"step {at + 1}"
    how = "in normal form" if matched.normal else "at exact points"
    return f"{where} (step {at + 1}), {matched.way}, {how}" if at == count - 1 else f"{where}, {matched.way}, {how}"


def _trivial(link: Link) -> bool:
    return link.assertion.sign is Sign.EQUAL and sums.alike(*link.assertion.sides)


def _proved(link: Link) -> bool:
    """Return whether the kernel proves a link as read."""
    assertion = link.assertion
    try:
        if assertion.sign is Sign.EQUAL:
            return Values(variables_of(sp.Tuple(*assertion.sides))).same(*assertion.sides) and sums.equal(*assertion.sides)
        if (
            isinstance(assertion, Expanded)
            and assertion.small is not None
            and assertion.order is not None
            and not assertion.small.domain.shape
        ):
            return Expansion(assertion.left, assertion.right, assertion.small, assertion.order).prove()
        return isinstance(assertion, Relation) and assertion.prove()
    except ValueError:
        return False


# ── differences ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _difference(link: Link, steps: Sequence[Relation], known: frozenset[str], defines: bool) -> str:
    """Describe a point at which print and derivation certainly contradict each other; empty if none is found."""
    assertion = link.assertion
    if isinstance(assertion, Expanded):
        return _other_terms(assertion, steps, known)
    if not isinstance(assertion, Relation) or assertion.sign not in COMPARED:
        return _other_optimum(link, steps, known)
    if assertion.sign is Sign.EQUAL and defines:
        own = Values(variables_of(sp.Tuple(*assertion.sides)))
        if (at := own.apart(*assertion.sides)) is not None:
            return f"it differs from the table's definition: {_shown_at(own, at, *assertion.sides)}"
    if why := _another_side(assertion, steps, known):
        return why
    if steps[-1].disproved or link.premises or not _of_one_sign(assertion, steps[-1].stated):
        return ""  # where its premises do not hold, it need not
    names = variables_of(sp.Tuple(*assertion.sides))
    if _quantified(names) - {name for each in steps for name in _quantified(variables_of(sp.Tuple(*shown(each))))}:
        return ""  # it has variables of its own
    own = Values(names)
    if assertion.sign is Sign.EQUAL and (at := own.apart(*assertion.sides)) is not None:
        return f"as read, it fails: {_shown_at(own, at, *assertion.sides)}"
    if assertion.sign in ORDERS and not steps[-1].premises:
        for point in own.points:
            if witness := assertion.contradicted_at(point):
                return f"as read, it fails: {rendering.witness(witness)}"
    return ""


def _of_one_sign(one: Assertion, other: Relation) -> bool:
    """Return whether both are equations, or both inequalities."""
    return other.sign in COMPARED and (one.sign is other.sign or {one.sign, other.sign} == ORDERS)


def _another_side(assertion: Assertion, steps: Sequence[Relation], known: frozenset[str]) -> str:
    """Describe a point at which a step shares one side with the print but not the other; empty if none is found."""
    for step in (step.stated for step in reversed(steps)):
        if _of_one_sign(assertion, step) and (why := _one_side_differs(assertion, step, known)):
            return why
    return ""


def _one_side_differs(assertion: Assertion, step: Relation, known: frozenset[str]) -> str:
    for naming in namings(assertion.sides, step.sides, known):
        try:
            one, other = (named(side, naming) for side in assertion.sides)
        except ValueError:  # a derivative by what the relation ties
            continue
        names = variables_of(sp.Tuple(one, other, *step.sides))
        if _quantified(names) - _quantified(variables_of(sp.Tuple(*step.sides))):
            continue
        values = Values(names, step.given)
        turned = [(step.sides[0], step.sides[1])] + ([(step.sides[1], step.sides[0])] if assertion.sign is Sign.EQUAL else [])
        for (a, b), (x, y) in ((pair, mine) for pair in turned for mine in ((one, other), (other, one))):
            if values.same(x, a) and variables_of(a) and (at := values.apart(y, b)) is not None:
                if assertion.sign in ORDERS and (x, y) != (one, other):
                    continue
                return f"one side is that of the derivation, the other is not: {_shown_at(values, at, y, b)}"
    return ""


def _shown_at(values: Values, at: int, printed: sp.Expr, proved: sp.Expr) -> str:
    one, other = values.at(printed, at), values.at(proved, at)
    assert one is not None
    assert other is not None
    return f"at {rendering.inputs(inputs(values.points[at]))}: {digits(one)} ≠ {digits(other)}"


def _quantified(names: Sequence[Variable]) -> set[str]:
    """Return the names of a statement's variables, without indices, which may be renamed freely."""
    return {v.name for v in names if not v.domain.is_index}


def _other_terms(assertion: Expanded, steps: Sequence[Relation], known: frozenset[str]) -> str:
    """Describe a point at which an expansion of the same function has another term."""
    for step in reversed(steps):
        if (expansion := step.stated.expansion) and (difference := differs(assertion, expansion, known)):
            return f"a term of the expansion differs: {_shown_at(*difference)}"
    return ""


def _other_optimum(link: Link, steps: Sequence[Relation], known: frozenset[str]) -> str:
    """Describe a point where the same problem has another solution or value, or another problem has the same solution."""
    assertion = link.assertion
    for step in (step.stated.problem for step in reversed(steps)):
        if not isinstance(assertion, Minimizer | Optimum) or step is None:
            continue
        if isinstance(assertion, Minimizer) and len(assertion.places) != len(step.places):
            continue
        proved = (step.open_objective, step.entry if isinstance(assertion, Minimizer) else step.own_value)
        for naming in namings(assertion.sides, proved, known):
            printed = [named(each, naming) for each in assertion.sides]
            if isinstance(assertion, Minimizer):
                own = dict(zip(step.places, (naming.get(v, v) for v in assertion.places), strict=True))
                proved = proved[0], step.entry.xreplace(own)
            values = Values(variables_of(sp.Tuple(*printed, *proved)), step.given)
            for this, that in ((0, 1), (1, 0)):
                if values.same(printed[this], proved[this]) and (at := values.apart(printed[that], proved[that])) is not None:
                    what = "the solution or value" if that else "the objective"
                    return f"{what} differs: {_shown_at(values, at, printed[that], proved[that])}"
    return ""
