"""The counts of `docs/trust.md`: `python -m tests.trust` writes them from the baseline and the attack suite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from derivations import ledger
from derivations.claims import Verdict
from derivations.relations import RELATIONS
from tests.attacks import attacks

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
BLOCK = re.compile(r"(<!-- counts:.*?-->\n).*?(<!-- /counts -->)", re.DOTALL)


def counts(baseline: Mapping[str, Any], suite: Mapping[str, int]) -> str:
    """The tables of the page."""
    verdicts = Counter(kept["verdict"] for kept in baseline.values())
    rests = [{"id": id, "quotes": kept.get("quotes", []), "depends_on": kept["text"]["rests on"]}
             for id, kept in baseline.items()]
    quoting = Counter(ledger.quoting(rests).values())
    forms = Counter(_kind(kept["canonical"]["form"]) for kept in baseline.values() if "canonical" in kept)
    return "\n".join([
        *_table("verdict", ((str(verdict), verdicts[verdict]) for verdict in Verdict if verdicts[verdict])),
        *_table("claims that rest on quoted theorems", quoting.items()),
        *_table("statements by their relation", sorted(forms.items(), key=lambda pair: -pair[1])),
        *_table("attacks in the suite", ((name.removeprefix("test_"), count) for name, count in suite.items())),
        f"The kernel has {len(RELATIONS)} kinds of statement. {len(baseline)} claims are in the baseline, and "
        f"{sum(suite.values())} attacks in the suite.", ""])


def _kind(form: str) -> str:
    """How a statement compares its sides, whatever is given and whatever moves."""
    own = form.partition(", given")[0]
    return "= up to o(…)" if "up to" in own else "→ as … → …" if own.startswith("→") else own


def _table(what: str, rows: Iterable[tuple[str, int]]) -> list[str]:
    found = list(rows) or [("none", 0)]
    return [f"| {what} | |", "| --- | --- |", *(f"| {name} | {count} |" for name, count in found), ""]


def written(page: str) -> str:
    """The page with the counts of today."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{counts(ledger.load_baseline(), attacks())}\n{found[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
