"""Texts about a run: its verdicts, why claims run again, and what changed since the baseline."""

from collections import Counter
from collections.abc import Iterable, Mapping

from derivations.ledger.differences import Aspect, Change, Comparison, Difference
from derivations.ledger.incremental import Reason, ReasonKind
from derivations.records.claims import Verdict

MOST_REASONS = 3  # reasons that are named if there are several


def verdicts(document: str, of: Iterable[str]) -> str:
    """Render the number of a document's claims, and of those with each verdict."""
    counts = Counter(of)
    return f"{document}: {counts.total()} claims: {', '.join(f'{counts[v]} {v}' for v in Verdict if counts[v])}"


# ── why claims run again ────────────────────────────────────────────────────────────────────────────────────────────

REASONS = {
    ReasonKind.NEW: "no row in the last ledger",
    ReasonKind.INCOMPLETE: "a test of it failed or did not run",
    ReasonKind.VOTER: "{} votes on it",
    ReasonKind.LOST_VOTER: "{} no longer votes on it",
    ReasonKind.CHANGED: "{} changed",
    ReasonKind.OUTDATED: "{} changed after the ledger was written",
    ReasonKind.UNKNOWN: "the ledger does not record its source files",
    ReasonKind.NEED: "{} was run again",
    ReasonKind.OTHER_VOTERS: "other modules vote on it",
    ReasonKind.SETTINGS: "{}",
}


def reason(of: Reason) -> str:
    """Render why a claim is run again, or why its row is outdated."""
    return REASONS[of.kind].format(of.subject)


def because(reasons: Mapping[str, Reason]) -> str:
    """Render the first few reasons, leaving out those that follow from other claims."""
    own = [reason(each) for each in dict.fromkeys(reasons.values()) if each.kind is not ReasonKind.NEED]
    return ", ".join(own[:MOST_REASONS]) + (f" and {len(own) - MOST_REASONS} more" if len(own) > MOST_REASONS else "")


# ── what changed since the baseline ─────────────────────────────────────────────────────────────────────────────────

ASPECTS = {
    Aspect.ADDED: "added",
    Aspect.REMOVED: "removed",
    Aspect.VERDICT: "verdict",
    Aspect.STATEMENT: "derived statement",
    Aspect.RELATION: "relation",
    Aspect.SIDE: "{subject} side",
    Aspect.SIDE_VALUE: "{subject} side at {at}",
    Aspect.VARIABLE: "variable {subject}",
    Aspect.DOMAIN: "domain of {subject}",
    Aspect.SIZES: "sizes",
    Aspect.LAYER: "{subject} layer",
    Aspect.ERROR: "{subject} error, in tolerances",
    Aspect.POWER: "power of the {subject} layer",
    Aspect.HYPOTHESIS: "hypothesis {subject}",
    Aspect.DISPROVED_HYPOTHESIS: "hypothesis of what is disproved {subject}",
    Aspect.QUOTE: "quoted theorem {subject}",
    Aspect.TWIN: "twin {subject!r}",
    Aspect.KILLERS: "twin {subject!r} is refuted by",
    Aspect.STEPS: "steps of the {subject}",
    Aspect.REASONS: "reasons in the {subject}",
    Aspect.PRINT: "{subject} beside the relation",
    Aspect.UNCOMPARED: "{subject}, which is not compared with the relation",
    Aspect.TEXT: "{subject}",
}


TEXTS = {
    "title": "title",
    "kind": "kind",
    "latex": "latex",
    "text": "text",
    "hypotheses": "hypotheses",
    "rests_on": "rests on",
    "correction": "correction",
    "under": "under",
    "left_open": "why it is left open",
}


def aspect(of: Difference) -> str:
    """Render which fact differs."""
    return ("the correction's " if of.repair else "") + ASPECTS[of.aspect].format(subject=of.subject, at=of.at)


def comparison(of: Comparison) -> str:
    """Render all differences by class, worst first, each with its text before and after, then the number of claims compared."""
    lines = []
    for change in reversed(Change):
        claims = [id for id, worst in of.classes.items() if worst is change]
        if claims:
            lines.append(f"{change}: {len(claims)} {'claim' if len(claims) == 1 else 'claims'}")
        for id in claims:
            lines.append(f"  {id}")
            own = [each for each in of.differences if each.claim == id]
            for each in sorted(own, key=lambda each: -list(Change).index(each.change)):
                lines.append(f"    {aspect(each)}" + (f"  ({each.change})" if each.change is not change else ""))
                lines += [
                    f"      {name:6} {text}".replace("\n", f"\n{13 * ' '}")
                    for name, text in (("before", each.before), ("after", each.after))
                    if text
                ]
    lines.append(
        f"{of.compared} claims compared, {of.unchanged} as before; {of.absent} of the baseline's claims were not in this run"
    )
    return "\n".join(lines)
