"""The pages of a report: the context of each template, and the few texts computed for it."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from derivations.records import rendering
from derivations.records.claims import Kind
from derivations.report import graph
from derivations.report.appearance import DIFFERS, LOOKS, ORIGINS, SEVERITIES, rank
from derivations.report.formulas import mathml
from derivations.report.merging import ClaimPage, Report, Row
from derivations.report.prose import TITLES, documented

NAMES = {
    "thm": "Theorem",
    "lem": "Lemma",
    "prop": "Proposition",
    "cor": "Corollary",
    "def": "Definition",
    "rem": "Remark",
    "fig": "Figure",
    "tab": "Table",
    "fn": "Footnote",
}
GROUPS = {"stands": "stand as printed", "fails": "do not", "open": "are open", DIFFERS: "are in dispute between the ledgers"}

NAMED = 60  # unsupported claims below one that its page lists, at most


def pages(report: Report) -> Iterator[tuple[str, str]]:
    """Every page as its path in the folder and its text."""
    environment = _environment(report)
    prose = documented()
    common = {"report": report, "documents": report.documents(), "documented": prose}
    for name, text in prose.items():
        yield f"{name}.html", environment.get_template("prose.html").render(common, root="", title=TITLES[name], text=text)
    yield (
        "index.html",
        environment.get_template("index.html").render(
            common,
            root="",
            counts=Counter(s.verdict for s in report.claims.values()),
            verdict_groups=verdict_groups(report),
            kinds=[kind for kind in Kind if any(s.row["kind"] == kind for s in report.claims.values())],
            severities=[s for s in SEVERITIES if any(claim.severity == s for claim in report.claims.values())],
        ),
    )
    for document in report.documents():
        yield (
            errata_path(document),
            environment.get_template("errata.html").render(common, root="", document=document, groups=errata(report, document)),
        )
    order = list(report.claims)
    for at, id in enumerate(order):
        below = report.closure(id, forward=False)
        yield (
            claim_path(id),
            environment.get_template("claim.html").render(
                common,
                root="../",
                claim=report.claims[id],
                drawing=graph.neighbourhood(report, id),
                before=order[at - 1] if at else None,
                after=order[at + 1] if at + 1 < len(order) else None,
                needs=report.needs(id),
                supports=report.supports[id],
                quoted=report.quoted(id),
                fallen=[other for other in below if _fell(report, other)],
                named=NAMED,
                all_needs=below,
                all_supports=report.closure(id, forward=True),
            ),
        )


def _fell(report: Report, id: str) -> bool:
    return id in report.claims and LOOKS[report.claims[id].verdict].group != "stands"


def claim_path(id: str) -> str:
    """The page of a claim."""
    return f"claims/{id}.html"


def errata_path(document: str) -> str:
    """The errata page of a document."""
    return f"errata-{document}.html"


def errata(report: Report, document: str) -> dict[str, list[ClaimPage]]:
    """The faults of a document by severity, worst first, each group in printed order."""
    faults = sorted((s for s in report.of(document) if s.faulty), key=lambda s: rank(s.severity))
    return {
        severity: [s for s in faults if s.severity == severity] for severity in dict.fromkeys(str(s.severity) for s in faults)
    }


def verdict_groups(report: Report) -> list[tuple[int, str]]:
    """Return one sentence with the numbers of statements that are supported, at fault, and open."""
    counts = Counter(LOOKS[claim.verdict].group for claim in report.claims.values())
    return [(counts[group], words) for group, words in GROUPS.items() if counts[group] or group != DIFFERS]


def printed_location(number: str) -> str:
    """Render where a statement is printed: 46 → (46), thmB.3 → Theorem B.3, s7.fisher-scaled → Section 7."""
    if section := re.match(r"s(\d+|[A-Z])\.", number):
        name = section[1]
        return "Abstract" if name == "0" else f"Section {name}" if name.isdigit() else f"Appendix {name}"
    if listing := re.match(r"listing\.(\w+)", number):
        return f"Listing {listing[1]}"
    if named := re.fullmatch(r"([a-z]+)([A-Z]?[\d.]+)", number):
        return f"{NAMES.get(named[1], named[1])} {named[2]}"
    return f"({number})"


def worked(witness: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a witness that a page shows: quantity, inputs, both sides and the sign between them."""
    inputs = [(name, rendering.value(value)) for name, value in witness["inputs"].items()]
    return {**witness, "inputs": inputs, "left": rendering.number(witness["left"]), "right": rendering.number(witness["right"])}


def why(claim: ClaimPage) -> str | None:
    """The reason that the derivation gives where the print fails."""
    steps: list[Row] = claim.steps("derivation")
    return str(steps[-1]["reason"]) if steps and steps[-1]["reason"] else None


def search_text(claim: ClaimPage) -> str:
    """Return the text that the search box matches a claim against, in lower case."""
    row = claim.row
    corrected = [row["correction"]["text"], row["correction"]["latex"]] if row["correction"] else []
    texts = [
        claim.id,
        printed_location(row["number"]),
        row["title"],
        row["statement"]["text"],
        row["statement"]["latex"],
        *row["hypotheses"],
        *corrected,
    ]
    return " ".join(" ".join(texts).lower().split())


def _beginning(word: str, ids: Container[str], longest: int) -> str:
    """Return the longest prefix of a dotted word that is one of these ids, or an empty text; `longest` bounds its length."""
    word = word if len(word) <= longest else word[: longest + 1].rpartition(".")[0]
    while word and word not in ids:
        word = word.rpartition(".")[0]
    return word


def _environment(report: Report) -> Environment:
    environment = Environment(
        loader=PackageLoader("derivations.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    longest = max(map(len, report.claims))
    known = re.compile(r"`([^`]+)`|\b([A-Za-z][\w-]*(?:\.[\w-]+)+)")

    @pass_context
    def prose(context: Context, text: str) -> Markup:
        """Set `code` as code and ids of claims as links."""
        pieces, done = Markup(""), 0
        for match in known.finditer(text):
            if match[1]:
                end, piece = match.end(), Markup("<code>{}</code>").format(match[1])
            elif id := _beginning(match[2], report.claims, longest):
                end = match.start() + len(id)
                piece = Markup('<a href="{}">{}</a>').format(context["root"] + claim_path(id), id)
            else:
                continue
            pieces += escape(text[done : match.start()]) + piece
            done = end
        return pieces + escape(text[done:])

    environment.filters |= {
        "mathml": mathml,
        "prose": prose,
        "location": printed_location,
        "worked": worked,
        "survivor": rendering.survivor,
    }
    environment.globals |= {
        "LOOKS": LOOKS,
        "ORIGINS": ORIGINS,
        "SEVERITIES": SEVERITIES,
        "claim_path": claim_path,
        "errata_path": errata_path,
        "errata": errata,
        "why": why,
        "search_text": search_text,
        "BOX": graph,
        "words": rendering,
    }
    return environment
