"""What changed since the baseline, claim by claim, each difference in its class.

Class                     what it means                                                                         passes
text only                 titles, sentences, formulas as printed, reasons, what a claim rests on, why it is     yes
                          open, the wording of hypotheses
equivalent rewrite        another form or other steps, with the same values at the baseline's exact points;     yes
                          or something gained: a layer, a twin, a wider domain
scope or strength lost    a hypothesis more, a narrower domain, another relation between the sides, sizes no    no
                          longer symbolic, a layer that no longer votes, newly says what is no vote, or no
                          longer kills a twin, a twin gone, an error that grew by an order of magnitude, a
                          vote whose power fell below 80 %
value changed             a side has another value at an exact point of the baseline; or the statement is       no
                          another one and both sides are 0 at all of them, where values tell nothing
verdict changed           another verdict or another severity, for better or worse                              no
claim removed/added       there is no such claim any more, or there was none                                    no

What the symbolic layer leaves to the others (measurements, statements about the world, what is undecidable) has no sides:
its texts, its verdict, its layers, their errors and its twins are compared.  A field that an older baseline does not
have is not compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from derivations import ledger
from derivations.canonical import DIGITS, NO_VALUE, OTHER_THAN, read_place, values_at
from derivations.catalogue import entries
from derivations.claims import SPEAKS, Canonical, Sample
from derivations.ledger import canonical_from, snapshot, unfit
from derivations.mutation import WEAK

GROWTH = 10.0                                                # times as large: rounding in another order moves an error less
NOTICEABLE = 0.1                                             # of the tolerance: below a tenth an error says nothing
AGREEMENT = Decimal(10) ** (2 - DIGITS)                      # of the larger value: the last two digits may be rounded

Kept = Mapping[str, Any]                                     # what the baseline remembers of a claim
Evaluate = Callable[[str, str, Sequence[str]], list[Sample] | None]

# The domains inside each domain, by the words in which `canonical` names them.
INSIDE = {
    "real": {"≥ 1", "≥ 0", "> 0", "≥ 0 with sum 1", "> 0 with sum 1", "≥ 0 with rows of sum 1"},
    "≥ 0": {"≥ 1", "> 0", "≥ 0 with sum 1", "> 0 with sum 1", "≥ 0 with rows of sum 1"},
    "> 0": {"≥ 1", "> 0 with sum 1"},
    "≥ 0 with sum 1": {"> 0 with sum 1"},
}


class Change(StrEnum):
    """The class of a difference, from the least to the worst."""

    TEXT = "text only"
    REWRITE = "equivalent rewrite"
    SCOPE = "scope or strength lost"
    VALUE = "value changed"
    VERDICT = "verdict changed"
    MEMBERSHIP = "claim removed/added"


FAILING = frozenset({Change.SCOPE, Change.VALUE, Change.VERDICT, Change.MEMBERSHIP})


@dataclass(frozen=True)
class Difference:
    """One thing about one claim that is not as it was."""

    claim: str
    change: Change
    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Comparison:
    """All differences, in the order of the claims, with how many claims were compared and how many of the baseline's not."""

    differences: tuple[Difference, ...]
    compared: int
    absent: int

    @property
    def unchanged(self) -> int:
        """How many of the compared claims are as they were."""
        gone = {each.claim for each in self.differences if each.what == "removed"}
        return self.compared - len(self.classes.keys() - gone)

    @property
    def classes(self) -> dict[str, Change]:
        """The worst class of each claim that differs."""
        worst: dict[str, Change] = {}
        for each in self.differences:
            worst[each.claim] = max(worst.get(each.claim, each.change), each.change, key=list(Change).index)
        return worst

    @property
    def failed(self) -> bool:
        """Whether a difference is one that has to be accepted."""
        return any(each.change in FAILING for each in self.differences)


def compare(found_now: Mapping[str, Any], baseline: Mapping[str, Kept], evaluate: Evaluate | None = None) -> Comparison:
    """A ledger against the baseline.

    `evaluate(id, field, places)` gives the values of a claim's present statement at recorded places, None where it
    cannot; by default the derivations that are installed are asked.  A claim of the baseline is missed only if it was
    asked for.
    """
    now = snapshot(found_now)
    asked = set(found_now.get("environment", {}).get("asked", ()))
    absent = [id for id in baseline if id not in now]
    found: list[Difference] = []
    for id, after in now.items():
        if id in baseline:
            found += _differences(id, baseline[id], after, evaluate or at_recorded_places)
        else:
            found.append(Difference(id, Change.MEMBERSHIP, "added", "", f"{after['verdict']}: {after['text']['title']}"))
    for id in absent:
        if asked & {id, id.split(".", 1)[0]}:
            found.append(Difference(id, Change.MEMBERSHIP, "removed", _introduced(baseline[id]), ""))
    return Comparison(tuple(found), len(now), len(absent))


def in_ci() -> bool:
    """Whether the environment says that this is a machine that must not accept anything."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def accept(found_now: Mapping[str, Any]) -> None:
    """Make a ledger the baseline, whole or not at all: claims that were not asked for stay as they are there.

    Raises ValueError in CI, and for a ledger that is `unfit`.
    """
    if in_ci():
        raise ValueError("accept: CI is set in the environment, a baseline is changed by hand only")
    before, now = ledger.load_baseline(), snapshot(found_now)
    if why := unfit(found_now, before):
        raise ValueError(f"accept: {why}")
    gone = {each.claim for each in compare(found_now, before, lambda *_: None).differences if each.what == "removed"}
    update = {**before, **now}
    order = [*(id for id in entries() if id in update), *(id for id in update if id not in entries())]
    ledger.write_baseline({id: update[id] for id in order if id not in gone})


def at_recorded_places(id: str, field: str, places: Sequence[str]) -> list[Sample] | None:
    """The values of an installed claim's statement, or of its correction, at recorded places."""
    entry = entries().get(id)
    relation = None if entry is None else entry.printed() if field == "canonical" else entry.repaired()
    return None if relation is None else values_at(relation, places)


def _introduced(kept: Kept) -> str:
    title = kept.get("text", {}).get("title")
    return f"{kept['verdict']}: {title}" if title else str(kept["verdict"])


def _differences(id: str, before: Kept, after: Kept, evaluate: Evaluate) -> Iterator[Difference]:
    def differ(change: Change, what: str, was: object, is_now: object) -> Difference:
        return Difference(id, change, what, str(was), str(is_now))

    known = after if "severity" in before else {"verdict": after["verdict"]}
    if _verdict(before) != _verdict(known):
        yield differ(Change.VERDICT, "verdict", _verdict(before), _verdict(known))
    sides = [*_statements("canonical", "", before, after, lambda places: evaluate(id, "canonical", places))]
    repair = [*_statements("canonical_repair", "the correction's ", before, after,
                           lambda places: evaluate(id, "canonical_repair", places))]
    for change, what, was, is_now in (
        *sides,
        *repair,
        *_strength(before, after),
        *_steps("derivation", before, after, _same_values(sides, before.get("canonical"))),
        *_steps("repair", before, after, _same_values(repair, before.get("canonical_repair"))),
        *_texts(before, after),
    ):
        yield differ(change, what, was, is_now)


def _verdict(kept: Kept) -> str:
    return f"{kept['verdict']} ({kept['severity']})" if kept.get("severity") else str(kept["verdict"])


Found = tuple[Change, str, object, object]


# ── the sides ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _statements(
    field: str, whose: str, before: Kept, after: Kept, evaluate: Callable[[Sequence[str]], list[Sample] | None]
) -> Iterator[Found]:
    was, now = canonical_from(before.get(field)), canonical_from(after.get(field))
    if was is None or now is None:
        if was is not None:
            yield Change.SCOPE, f"{whose}derived statement", f"{was.left} {was.form} {was.right}", "none"
        elif now is not None and "text" in before:
            yield Change.REWRITE, f"{whose}derived statement", "none", f"{now.left} {now.form} {now.right}"
        return
    moved = list(_moved(was.values, now.values, evaluate))
    for side, sample, value in moved:
        yield Change.VALUE, f"{whose}{side} side at {sample.at}", getattr(sample, side), value
    others = {side for side, _, _ in moved} if _telling(was) else {"left", "right"}
    if was.form != now.form:
        gained = (was.form, now.form) == ("≥", ">")
        yield Change.REWRITE if gained else Change.SCOPE, f"{whose}relation", was.form, now.form
    for side in ("left", "right"):
        old, new = getattr(was, side), getattr(now, side)
        if old != new:
            yield Change.VALUE if side in others else Change.REWRITE, f"{whose}{side} side", old, new
    valued = read_place(was.values[0].at) if _telling(was) else {}
    for name, domain in sorted(was.variables.items()):
        if name not in now.variables and name not in valued:   # of the others the values have said whether anything is lost
            yield Change.SCOPE, f"{whose}variable {name}", domain, "not spoken of"
        elif (found := now.variables.get(name, domain)) != domain:
            yield Change.REWRITE if contains(found, domain) else Change.SCOPE, f"{whose}domain of {name}", domain, found


def _telling(kept: Canonical) -> bool:
    """Whether another statement would have other values: not where both sides are 0, or have no value, everywhere."""
    return any((sample.left, sample.right) != ("0", "0") for sample in kept.values)


def _same_values(differences: Sequence[Found], was: Kept | None) -> bool:
    """Whether values vouch that a statement is still the same."""
    kept = canonical_from(was)
    return (kept is None or _telling(kept)) and not any(change is Change.VALUE for change, *_ in differences)


def contains(wide: str, narrow: str) -> bool:
    """Whether a domain, as `canonical` names it, is known to contain another of the same shape."""
    (wide, _, left_out), (narrow, _, out_too) = (domain.partition(OTHER_THAN) for domain in (wide, narrow))
    (outer, _, outer_shape), (inner, _, inner_shape) = (domain.partition(" [") for domain in (wide, narrow))
    excepted = set(filter(None, left_out.split(", "))) <= set(filter(None, out_too.split(", ")))
    return excepted and outer_shape == inner_shape and (outer == inner or inner in INSIDE.get(outer, set()))


def _moved(
    was: Sequence[Sample], now: Sequence[Sample], evaluate: Callable[[Sequence[str]], list[Sample] | None]
) -> Iterator[tuple[str, Sample, str]]:
    """The sides whose values differ: at the baseline's points, else each at its own points in their order."""
    if [sample.at for sample in was] != [sample.at for sample in now]:
        now = evaluate([sample.at for sample in was]) or now
    nowhere = Sample("every point", NO_VALUE, NO_VALUE)
    for old, new in zip_longest(was, now[:len(was)], fillvalue=nowhere):
        for side in ("left", "right"):
            if not agree(getattr(old, side), getattr(new, side)):
                yield side, old, getattr(new, side) if old.at == new.at else f"{getattr(new, side)} at {new.at}"


def agree(one: str, other: str) -> bool:
    """Whether two recorded values are the same up to their last digits."""
    if one == other:
        return True
    try:
        a, b = Decimal(one), Decimal(other)
    except InvalidOperation:
        return False
    return abs(a - b) <= AGREEMENT * max(abs(a), abs(b))


# ── strength, steps, texts ──────────────────────────────────────────────────────────────────────────────────────────


def _strength(before: Kept, after: Kept) -> Iterator[Found]:
    if before.get("general") and not after["general"]:
        yield Change.SCOPE, "sizes", "symbolic", "fixed"
    if before.get("general") is False and after["general"]:
        yield Change.REWRITE, "sizes", "fixed", "symbolic"
    for layer in sorted(before["layers"].keys() | after["layers"].keys()):
        was, now = before["layers"].get(layer, "does not vote"), after["layers"].get(layer, "does not vote")
        if was != now:
            gained = now in SPEAKS and was not in SPEAKS
            yield Change.REWRITE if gained else Change.SCOPE, f"{layer} layer", was, now
    for layer, error in after["errors"].items():
        known = before.get("errors", {}).get(layer)
        if known is not None and error > NOTICEABLE and error > GROWTH * known:
            yield Change.SCOPE, f"{layer} error, in tolerances", known, error
    for layer, power in before.get("powers", {}).items():
        fallen = after["powers"].get(layer, 0.0)
        if power >= WEAK > fallen and layer in after["layers"]:
            yield Change.SCOPE, f"power of the {layer} layer", f"{power:.1%}", f"{fallen:.1%}"
    yield from _given(before, after)
    yield from _twins(before["twins"], after["twins"])


def _given(before: Kept, after: Kept) -> Iterator[Found]:
    """The hypotheses that relations declare: of what is proved, one more is a loss; what is disproved is another statement."""
    for field, what in (("given", "hypothesis"), ("disproved_given", "hypothesis of what is disproved")):
        was = before.get(field, after[field])
        for each in after[field]:
            if each not in was:
                yield Change.SCOPE, f"{what} {each}", "none", "there"
        for each in was:
            if each not in after[field]:
                yield Change.REWRITE if field == "given" else Change.SCOPE, f"{what} {each}", "there", "gone"


def _twins(before: Sequence[str] | Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> Iterator[Found]:
    for name in before:
        if name not in after:
            yield Change.SCOPE, f"twin {name!r}", "there", "gone"
        elif isinstance(before, Mapping):
            lost, gained = set(before[name]) - set(after[name]), set(after[name]) - set(before[name])
            if lost or gained:
                yield (Change.SCOPE if lost else Change.REWRITE, f"twin {name!r} is refuted by",
                       ", ".join(before[name]) or "nobody", ", ".join(after[name]) or "nobody")
    for name in after:
        if name not in before:
            yield Change.REWRITE, f"twin {name!r}", "none", "there"


def _steps(field: str, before: Kept, after: Kept, same_values: bool) -> Iterator[Found]:
    """Other steps; the last one is the statement, which is the same if its text or its values say so."""
    was, now = before.get(field), after[field]
    if was is None or was == now:
        return
    stated, states = [statement for statement, _ in was], [statement for statement, _ in now]
    if stated == states:
        change, what = Change.TEXT, f"reasons in the {field}"
    else:
        proved_again = same_values or stated[-1:] == states[-1:]
        change, what = Change.REWRITE if proved_again else Change.VALUE, f"steps of the {field}"
    parts = [part for part in SequenceMatcher(None, [*map(tuple, was)], [*map(tuple, now)], autojunk=False).get_opcodes()
             if part[0] != "equal"]
    yield (change, what, _listed(was, [n for _, start, end, _, _ in parts for n in range(start, end)]),
           _listed(now, [n for _, _, _, start, end in parts for n in range(start, end)]))


def _listed(steps: Sequence[Sequence[str]], chosen: Sequence[int]) -> str:
    """The chosen steps, one a line, with their numbers."""
    told = (f"{n + 1}. {steps[n][0]}" + (f"  — {steps[n][1]}" if steps[n][1] else "") for n in chosen)
    return "\n".join(told) or "none of these steps"


def _texts(before: Kept, after: Kept) -> Iterator[Found]:
    was, now = before.get("text"), after["text"]
    if was is None:
        return
    for name, words in now.items():
        if name != "hypotheses" and was.get(name, words) != words:
            yield Change.TEXT, name, _in_words(was[name]), _in_words(words)
    old, new = was["hypotheses"], [*now["hypotheses"], *([] if "given" in before else after["given"])]   # once among the words
    if old != new:
        change = Change.SCOPE if len(new) > len(old) else Change.REWRITE if len(new) < len(old) else Change.TEXT
        yield change, "hypotheses", "; ".join(old) or "none", "; ".join(new) or "none"


def _in_words(told: Any) -> str:
    if isinstance(told, Mapping):
        return f"{told['latex']}: {told['text']}"
    return str((", ".join(told) if isinstance(told, list) else told) or "none")


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────────────


def told(comparison: Comparison) -> str:
    """The differences class by class, the worst first, with before and after; then how much was compared."""
    lines = []
    for change in reversed(Change):
        claims = [id for id, worst in comparison.classes.items() if worst is change]
        if claims:
            lines.append(f"{change}: {len(claims)} {'claim' if len(claims) == 1 else 'claims'}")
        for id in claims:
            lines.append(f"  {id}")
            own = [each for each in comparison.differences if each.claim == id]
            for each in sorted(own, key=lambda each: -list(Change).index(each.change)):
                lines.append(f"    {each.what}" + (f"  ({each.change})" if each.change is not change else ""))
                lines += [f"      {name:6} {text}".replace("\n", f"\n{13 * ' '}")
                          for name, text in (("before", each.before), ("after", each.after)) if text]
    lines.append(f"{comparison.compared} claims compared, {comparison.unchanged} as before; "
                 f"{comparison.absent} of the baseline's claims were not in this run")
    return "\n".join(lines)

