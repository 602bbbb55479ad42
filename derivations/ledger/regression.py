"""Compare a ledger with the baseline, claim by claim, and classify each difference.

Class                     what it means                                                                         passes
text only                 titles, sentences, reasons, what a claim rests on, why it is open, the wording of     yes
                          hypotheses, and formulas that were read and agree with what is proved
equivalent rewrite        another form or other steps, with the same values at the baseline's exact points;     yes
                          or something gained: a layer, a twin, a wider domain
scope or strength lost    a new hypothesis, a newly quoted theorem, a narrower domain, another relation         no
                          between the sides, sizes that are no longer symbolic, a layer that no longer votes
                          or refutes a twin, a layer that newly abstains, a missing twin, an error that grew
                          by an order of magnitude or is no longer known, a vote whose power fell below 80 %,
                          another formula that nothing compares with the relation, a formula that agreed with
                          the relation and no longer does or is no longer compared
value changed             a side has another value at an exact point of the baseline; or a side is different    no
                          and was 0 at all of them, so that its values are uninformative
verdict changed           another verdict or another severity, for better or worse                              no
claim removed/added       the claim no longer exists, or is new                                                 no

Claims without a derivation (measurements, statements about the world, undecidable ones) have no sides: their texts, verdicts,
layers, errors and twins are compared.
"""

import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from functools import partial
from itertools import zip_longest
from typing import Any

from derivations.domains import NAMED
from derivations.judge.canonical import DIGITS, SamplePoint, values_at
from derivations.judge.mutants import WEAK
from derivations.ledger import baseline, messages
from derivations.ledger.baseline import Kept, Texts, rejection, snapshot
from derivations.ledger.differences import Aspect, Change, Comparison, Difference
from derivations.ledger.runs import environments
from derivations.records import rendering
from derivations.records.base import from_json
from derivations.records.claims import DECISIVE_OUTCOMES, Statement
from derivations.records.normal_form import Canonical, Declared, Form, Sample, Sign
from derivations.records.prints import Standing
from derivations.register.catalogue import entries, ordered

GROWTH = 10.0  # times as large: rounding in another order moves an error less
NOTICEABLE = 0.1  # of the tolerance: below a tenth an error says nothing
AGREEMENT = Decimal(10) ** (2 - DIGITS)  # of the larger value: the last two digits may be rounded

Evaluate = Callable[[str, str, Sequence[SamplePoint]], list[Sample] | None]


def compare(ledger: Mapping[str, Any], recorded: Mapping[str, Kept], evaluate: Evaluate | None = None) -> Comparison:
    """Compare a ledger with the baseline.

    `evaluate(id, field, points)` returns the values of a claim's current statement at recorded points, None if it cannot;
    by default the installed derivations are evaluated.  A claim of the baseline that is not in the ledger counts as removed
    only if the run was meant to include it.
    """
    now = snapshot(ledger)
    runs = [ledger.get("environment", {}), *environments(ledger)]
    requested = {name for environment in runs for name in environment.get("asked", ())}
    absent = [id for id in recorded if id not in now]
    differences: list[Difference] = []
    for row, (id, after) in zip(ledger["claims"], now.items(), strict=True):
        if id in recorded:
            differences += _differences(row, recorded[id], after, evaluate or at_recorded_points)
        else:
            differences.append(Difference(id, Change.MEMBERSHIP, Aspect.ADDED, "", f"{after.verdict}: {after.text.title}"))
    for id in absent:
        if requested & {id, id.split(".", 1)[0]}:
            was = f"{recorded[id].verdict}: {recorded[id].text.title}"
            differences.append(Difference(id, Change.MEMBERSHIP, Aspect.REMOVED, was, ""))
    return Comparison(tuple(differences), len(now), len(absent))


def in_ci() -> bool:
    """Return whether the environment variable CI is set, where no baseline may be accepted."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def accept(ledger: Mapping[str, Any], about: Collection[str] | None = None) -> None:
    """Make a ledger the baseline of the claims that it is about, by default all; entries of claims that it leaves out are kept.

    Raises ValueError in CI, and for a ledger with a `rejection`.
    """
    if in_ci():
        raise ValueError("accept: no baseline is changed in CI")
    before = baseline.load()
    if why := rejection(ledger, before):
        raise ValueError(f"accept: {why}")
    removed = compare(ledger, {id: before[id] for id in before if about is None or id in about}, lambda *_: None).removed
    update = {**before, **snapshot(ledger)}
    order = [*ordered(update), *(id for id in update if id not in entries())]
    baseline.write({id: update[id] for id in order if id not in removed})


def at_recorded_points(id: str, field: str, points: Sequence[SamplePoint]) -> list[Sample] | None:
    """Return the values of an installed claim's statement, or of its correction, at recorded points."""
    entry = entries().get(id)
    relation = None if entry is None else entry.printed() if field == "canonical" else entry.repaired()
    return None if relation is None else values_at(relation, points)


def _differences(row: Mapping[str, Any], before: Kept, after: Kept, evaluate: Evaluate) -> Iterator[Difference]:
    id = row["id"]
    differ = partial(Difference, id)
    was, is_now = ((each.verdict, each.severity) for each in (before, after))
    if was != is_now:
        yield differ(Change.VERDICT, Aspect.VERDICT, rendering.verdict(*was), rendering.verdict(*is_now))
    for field, steps in (("canonical", "derivation"), ("canonical_repair", "repair")):
        old = getattr(before, field)
        shown = row[field] and from_json(row[field], Canonical)
        compared = Statements(differ, old, getattr(after, field), shown, field == "canonical_repair")
        statements = [*compared.differences(partial(evaluate, id, field))]
        yield from statements
        same_values = (old is None or _is_informative(old)) and not any(each.change is Change.VALUE for each in statements)
        yield from _steps(differ, steps, getattr(before, steps), getattr(after, steps), same_values)
    yield from _strength(differ, before, after)
    yield from _prints(differ, before, after)
    yield from _texts(differ, before.text, after.text, _uncompared(row, after))


Differ = Callable[..., Difference]


# ── the sides ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Statements:
    """A statement in normal form before and now, with expressions hashed; `shown` has the current expressions in full."""

    differ: Differ
    was: Canonical | None
    now: Canonical | None
    shown: Canonical | None
    repair: bool

    def differences(self, evaluate: Callable[[Sequence[SamplePoint]], list[Sample] | None]) -> Iterator[Difference]:
        """Yield the differences; `evaluate` returns the current values at recorded points."""
        differ, was, now, shown = partial(self.differ, repair=self.repair), self.was, self.now, self.shown
        if was is None or now is None or shown is None:
            if was is not None:
                yield differ(Change.SCOPE, Aspect.STATEMENT, rendering.statement(was), "none")
            elif shown is not None:
                yield differ(Change.REWRITE, Aspect.STATEMENT, "none", rendering.statement(shown))
            return
        changed = list(_changed_sides(was.values, now.values, evaluate))
        for side, sample, value in changed:
            yield differ(
                Change.VALUE,
                Aspect.SIDE_VALUE,
                rendering.recorded(getattr(sample, side)),
                value,
                subject=side,
                at=rendering.inputs(sample.at),
            )
        others = {side for side, _, _ in changed} | {side for side in ("left", "right") if not _is_informative(was, side)}
        if was.form != now.form:
            gained = (was.form, now.form) == (Form(Sign.AT_LEAST), Form(Sign.GREATER))
            yield differ(
                Change.REWRITE if gained else Change.SCOPE,
                Aspect.RELATION,
                rendering.form(was.form),
                rendering.form(shown.form),
            )
        for side in ("left", "right"):
            if getattr(was, side) != getattr(now, side):
                yield differ(
                    Change.VALUE if side in others else Change.REWRITE,
                    Aspect.SIDE,
                    getattr(was, side),
                    getattr(shown, side),
                    subject=side,
                )
        yield from _domains(differ, was, now)


def _domains(differ: Differ, was: Canonical, now: Canonical) -> Iterator[Difference]:
    valued = was.values[0].at if _is_informative(was) else {}
    for name, domain in sorted(was.variables.items()):
        if name not in now.variables:
            if name not in valued:  # for the others the values have decided whether anything is lost
                yield differ(Change.SCOPE, Aspect.VARIABLE, rendering.domain(domain), "not spoken of", subject=name)
        elif (other := now.variables[name]) != domain:
            yield differ(
                Change.REWRITE if contains(other, domain) else Change.SCOPE,
                Aspect.DOMAIN,
                rendering.domain(domain),
                rendering.domain(other),
                subject=name,
            )


def _is_informative(recorded: Canonical, *sides: str) -> bool:
    """Return whether the recorded values of a side can reveal a change: not if it is 0 or undefined at every point."""
    return any(getattr(sample, side) not in ("0", None) for sample in recorded.values for side in sides or ("left", "right"))


def contains(wide: Declared, narrow: Declared) -> bool:
    """Return whether a domain is known to contain another one of the same shape."""
    excepted = set(wide.other_than) <= set(narrow.other_than)
    same_shape = (wide.shape, wide.marginals) == (narrow.shape, narrow.marginals)
    return excepted and same_shape and NAMED[wide.kind].includes(NAMED[narrow.kind])


def _changed_sides(
    was: Sequence[Sample], now: Sequence[Sample], evaluate: Callable[[Sequence[SamplePoint]], list[Sample] | None]
) -> Iterator[tuple[str, Sample, str]]:
    """Return the sides whose values differ: at the baseline's points if possible, else at the points of each, in order."""
    if [sample.at for sample in was] != [sample.at for sample in now]:
        now = evaluate([sample.at for sample in was]) or now
    for old, new in zip_longest(was, now[: len(was)]):
        for side in ("left", "right"):
            value = getattr(new, side) if new else None
            if not agree(getattr(old, side), value):
                elsewhere = "" if new and old.at == new.at else f" at {rendering.inputs(new.at) if new else 'every point'}"
                yield side, old, rendering.recorded(value) + elsewhere


def agree(one: str | None, other: str | None) -> bool:
    """Return whether two recorded values agree up to their last two digits."""
    if one == other:
        return True
    if one is None or other is None:
        return False
    try:
        a, b = Decimal(one), Decimal(other)
    except InvalidOperation:
        return False
    return abs(a - b) <= AGREEMENT * max(abs(a), abs(b))


# ── strength, steps, texts ──────────────────────────────────────────────────────────────────────────────────────────


def _strength(differ: Differ, before: Kept, after: Kept) -> Iterator[Difference]:
    if before.general != after.general:
        sizes = ["symbolic" if each.general else "fixed" for each in (before, after)]
        yield differ(Change.SCOPE if before.general else Change.REWRITE, Aspect.SIZES, *sizes)
    for layer in sorted(before.layers.keys() | after.layers.keys()):
        was, now = before.layers.get(layer), after.layers.get(layer)
        if was != now:
            gained = now in DECISIVE_OUTCOMES and was not in DECISIVE_OUTCOMES
            yield differ(
                Change.REWRITE if gained else Change.SCOPE,
                Aspect.LAYER,
                was or "does not vote",
                now or "does not vote",
                subject=layer,
            )
    for layer, known in before.errors.items():
        error = after.errors.get(layer, math.inf if layer in after.layers else 0.0)
        if error > NOTICEABLE and error > GROWTH * known:
            shown = "not known" if math.isinf(error) else str(error)
            yield differ(Change.SCOPE, Aspect.ERROR, str(known), shown, subject=layer)
    for layer, power in before.powers.items():
        fallen = after.powers.get(layer, 0.0)
        if power >= WEAK > fallen and layer in after.layers:
            yield differ(Change.SCOPE, Aspect.POWER, f"{power:.1%}", f"{fallen:.1%}", subject=layer)
    yield from _given(partial(differ, aspect=Aspect.HYPOTHESIS), before.given, after.given, Change.REWRITE)
    yield from _given(partial(differ, aspect=Aspect.QUOTE), before.quotes, after.quotes, Change.REWRITE)
    yield from _given(
        partial(differ, aspect=Aspect.DISPROVED_HYPOTHESIS), before.disproved_given, after.disproved_given, Change.SCOPE
    )
    yield from _twins(differ, before.twins, after.twins)


def _given(differ: Differ, before: Sequence[str], after: Sequence[str], fewer: Change) -> Iterator[Difference]:
    """Yield changes of hypotheses and quoted theorems: a new one weakens a proof; a hypothesis of a disproof changes it."""
    for each in after:
        if each not in before:
            yield differ(Change.SCOPE, before="none", after="there", subject=each)
    for each in before:
        if each not in after:
            yield differ(fewer, before="there", after="gone", subject=each)


def _twins(differ: Differ, before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> Iterator[Difference]:
    for name in before:
        if name not in after:
            yield differ(Change.SCOPE, Aspect.TWIN, "there", "gone", subject=name)
        elif set(before[name]) != set(after[name]):
            missing = set(before[name]) - set(after[name])
            yield differ(
                Change.SCOPE if missing else Change.REWRITE,
                Aspect.KILLERS,
                ", ".join(before[name]) or "nobody",
                ", ".join(after[name]) or "nobody",
                subject=name,
            )
    for name in after:
        if name not in before:
            yield differ(Change.REWRITE, Aspect.TWIN, "none", "there", subject=name)


Steps = Sequence[tuple[str, str]]


def _steps(differ: Differ, field: str, was: Steps, now: Steps, same_values: bool) -> Iterator[Difference]:
    """Yield changes of steps.  The last step is the statement; it is unchanged if its text or its values agree."""
    if was == now:
        return
    stated, states = [statement for statement, _ in was], [statement for statement, _ in now]
    if stated == states:
        change, aspect = Change.TEXT, Aspect.REASONS
    else:
        proved_again = same_values or stated[-1:] == states[-1:]
        change, aspect = Change.REWRITE if proved_again else Change.VALUE, Aspect.STEPS
    parts = [part for part in SequenceMatcher(None, was, now, autojunk=False).get_opcodes() if part[0] != "equal"]
    yield differ(
        change,
        aspect,
        _listed(was, [n for _, start, end, _, _ in parts for n in range(start, end)]),
        _listed(now, [n for _, _, _, start, end in parts for n in range(start, end)]),
        subject=field,
    )


def _listed(steps: Steps, chosen: Sequence[int]) -> str:
    """Return the chosen steps, numbered, one per line."""
    lines = (f"{n + 1}. {steps[n][0]}" + (f"  — {steps[n][1]}" if steps[n][1] else "") for n in chosen)
    return "\n".join(lines) or "none of these steps"


def _prints(differ: Differ, before: Kept, after: Kept) -> Iterator[Difference]:
    """Yield changes of the comparison of a formula with its relation; a baseline of before there were any has none."""
    for name, subject in (("print", "print"), ("print_repair", "correction")):
        was, now = getattr(before, name), getattr(after, name)
        if was != now and Standing.AGREES in (was, now):
            change = Change.REWRITE if now is Standing.AGREES else Change.SCOPE
            yield differ(change, Aspect.PRINT, *(each or Standing.APART for each in (was, now)), subject=subject)


def _uncompared(row: Mapping[str, Any], now: Kept) -> frozenset[str]:
    """Return the texts with a formula that does not agree with a relation; the row of a part answers for its correction."""
    standings = {"latex": now.print, "correction": Standing.AGREES if row.get("worst_part") else now.print_repair}
    return frozenset(name for name, standing in standings.items() if standing is not Standing.AGREES)


def _texts(differ: Differ, was: Texts, now: Texts, uncompared: frozenset[str]) -> Iterator[Difference]:
    """Yield changed texts; a changed formula may say something else, unless it was read and agrees with the relation."""
    for name in Texts.__struct_fields__:
        old, new = getattr(was, name), getattr(now, name)
        if old == new:
            continue
        change, aspect = Change.TEXT, Aspect.TEXT
        if name == "hypotheses" and len(old) != len(new):
            change = Change.SCOPE if len(new) > len(old) else Change.REWRITE
        elif name in uncompared and _formula(old) != _formula(new):
            change, aspect = Change.SCOPE, Aspect.UNCOMPARED
        yield differ(change, aspect, _in_words(old), _in_words(new), subject=messages.TEXTS[name])


def _formula(text: Statement | str | None) -> str:
    """Return the LaTeX of a print or of a correction."""
    return text.latex if isinstance(text, Statement) else text or ""


def _in_words(text: Statement | Sequence[str] | str | None) -> str:
    if isinstance(text, Statement):
        return f"{text.latex}: {text.text}"
    return (text if isinstance(text, str) else "; ".join(text or ())) or "none"
