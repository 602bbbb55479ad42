"""`python -m tests.counts` writes the counts in README.md and docs/trust.md from the baseline and the attack suite."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from derivations.ledger import baseline, ledger, messages
from derivations.records import rendering
from derivations.records.claims import Verdict
from derivations.records.normal_form import Form, Sign
from derivations.relations import RELATIONS
from tests.attacks import attacks

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "trust.md")
LINE = re.compile(r"^(\w+): \d+ claims: .*$", re.MULTILINE)  # of a document, as `verify` prints it
BLOCK = re.compile(r"(<!-- counts:.*?-->\n).*?(<!-- /counts -->)", re.DOTALL)


def tables(remembered: Mapping[str, baseline.Kept], suite: Mapping[str, int]) -> str:
    """The tables of the page."""
    verdicts = Counter(entry.verdict for entry in remembered.values())
    rests = [{"id": id, "quotes": entry.quotes, "depends_on": entry.text.rests_on} for id, entry in remembered.items()]
    quoting = Counter(ledger.quoting(rests).values())
    forms = Counter(_kind(entry.canonical.form) for entry in remembered.values() if entry.canonical)
    return "\n".join(
        [
            *_table("verdict", ((str(verdict), verdicts[verdict]) for verdict in Verdict if verdicts[verdict])),
            *_table("claims that rest on quoted theorems", quoting.items()),
            *_table("statements by their relation", sorted(forms.items(), key=lambda pair: -pair[1])),
            *_table("attacks in the suite", ((name.removeprefix("test_"), count) for name, count in suite.items())),
            f"The kernel has {len(RELATIONS)} kinds of statement. {len(remembered)} claims are in the baseline, and "
            f"{sum(suite.values())} attacks in the suite.",
            "",
        ]
    )


NAMES = {Sign.EXPANSION: "= up to o(…)", Sign.LIMIT: "→ as … → …"}


def _kind(form: Form) -> str:
    """The kind of comparison that a statement makes, without its hypotheses and moving variables."""
    return NAMES.get(form.sign) or rendering.form(replace(form, given=()))


def _table(what: str, rows: Iterable[tuple[str, int]]) -> list[str]:
    all_rows = list(rows) or [("none", 0)]
    return [f"| {what} | |", "| --- | --- |", *(f"| {name} | {count} |" for name, count in all_rows), ""]


def written(page: str, remembered: Mapping[str, baseline.Kept], suite: Mapping[str, int]) -> str:
    """The page with the present counts."""

    def line(match: re.Match[str]) -> str:
        return messages.verdicts(match[1], (kept.verdict for id, kept in remembered.items() if id.startswith(f"{match[1]}.")))

    block = tables(remembered, suite) if BLOCK.search(page) else ""
    return BLOCK.sub(lambda match: f"{match[1]}\n{block}\n{match[2]}", LINE.sub(line, page))


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(written(path.read_text(encoding="utf-8"), baseline.load(), attacks()), encoding="utf-8")
