"""The counts of `docs/trust.md`: `python -m tests.trust` writes them from the baseline and the attack suite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from derivations import baseline, ledger, rendering
from derivations.claims import Verdict
from derivations.normal_form import Form, Sign
from derivations.relations import RELATIONS
from tests.attacks import attacks

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
BLOCK = re.compile(r"(<!-- counts:.*?-->\n).*?(<!-- /counts -->)", re.DOTALL)


def counts(remembered: Mapping[str, baseline.Kept], suite: Mapping[str, int]) -> str:
    """The tables of the page."""
    verdicts = Counter(kept.verdict for kept in remembered.values())
    rests = [{"id": id, "quotes": kept.quotes, "depends_on": kept.text.rests_on} for id, kept in remembered.items()]
    quoting = Counter(ledger.quoting(rests).values())
    forms = Counter(_kind(kept.canonical.form) for kept in remembered.values() if kept.canonical)
    return "\n".join([
        *_table("verdict", ((str(verdict), verdicts[verdict]) for verdict in Verdict if verdicts[verdict])),
        *_table("claims that rest on quoted theorems", quoting.items()),
        *_table("statements by their relation", sorted(forms.items(), key=lambda pair: -pair[1])),
        *_table("attacks in the suite", ((name.removeprefix("test_"), count) for name, count in suite.items())),
        f"The kernel has {len(RELATIONS)} kinds of statement. {len(remembered)} claims are in the baseline, and "
        f"{sum(suite.values())} attacks in the suite.", ""])


NAMES = {Sign.EXPANSION: "= up to o(…)", Sign.LIMIT: "→ as … → …"}


def _kind(form: Form) -> str:
    """How a statement compares its sides, whatever is given and whatever moves."""
    return NAMES.get(form.sign) or rendering.form(replace(form, given=()))


def _table(what: str, rows: Iterable[tuple[str, int]]) -> list[str]:
    found = list(rows) or [("none", 0)]
    return [f"| {what} | |", "| --- | --- |", *(f"| {name} | {count} |" for name, count in found), ""]


def written(page: str) -> str:
    """The page with the counts of today."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{counts(baseline.load(), attacks())}\n{found[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
