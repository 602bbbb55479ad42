"""The appearance of verdicts and severities: one table from which the style sheet, the legend and all labels are made.

Verdicts never differ by colour alone: each has its own sign and border, and cells contain text.
"""

from dataclasses import dataclass

from derivations.records.claims import FAULT_VERDICTS, SUPPORTING_VERDICTS, Severity, Verdict
from derivations.register.source_lines import Provenance

DIFFERS = "differs"  # the verdict if ledgers disagree
PAPER = {"light": "#fdfcf9", "dark": "#16171a"}


@dataclass(frozen=True)
class Shade:
    """Background, ink on it, and border, as #rrggbb."""

    fill: str
    ink: str
    edge: str


@dataclass(frozen=True)
class Look:
    """A verdict as the reader sees it."""

    key: str
    sign: str
    meaning: str
    light: Shade
    dark: Shade
    border: str = "solid"

    @property
    def name(self) -> str:
        """The verdict in words."""
        return self.key.replace("-", " ")

    @property
    def group(self) -> str:
        """The group of the verdict: supported, at fault, open, or disputed between ledgers."""
        return "stands" if self.key in SUPPORTING_VERDICTS else "fails" if self.key in FAULT_VERDICTS else str(self.key)


LOOKS = {
    look.key: look
    for look in (
        Look(
            Verdict.PROVED,
            "✓",
            "derived for every size, under the printed hypotheses; every wrong twin died",
            Shade("#dbeade", "#1c5230", "#6a9877"),
            Shade("#1c3727", "#a9dcb9", "#518b66"),
        ),
        Look(
            Verdict.CONFIRMED,
            "≈",
            "not derived here; numerical layers hold over the stated scope",
            Shade("#e8f0db", "#43591c", "#7d9153"),
            Shade("#2b3518", "#c9dba0", "#768a41"),
            "dashed",
        ),
        Look(
            Verdict.DEFINITION,
            "≔",
            "a definition, shown consistent by an instance",
            Shade("#e1e8f2", "#27466f", "#7a93b5"),
            Shade("#1e2b3e", "#b3cdf0", "#5e7da7"),
        ),
        Look(
            Verdict.MEASURED,
            "#",
            "an empirical statement, measured here: our figures beside theirs",
            Shade("#d9ecef", "#165662", "#66969f"),
            Shade("#163238", "#a6dbe4", "#4d8a94"),
        ),
        Look(
            Verdict.CHECKED,
            "§",
            "a fact about the outside world, checked against the source itself",
            Shade("#e8e3f2", "#4c3b80", "#8f81b7"),
            Shade("#2b2540", "#cfc3f2", "#8073b1"),
        ),
        Look(
            Verdict.PROVED_UNDER,
            "+",
            "true only with a hypothesis that is not printed; a witness shows it failing without",
            Shade("#f5d88f", "#5a3900", "#a57400"),
            Shade("#5a420c", "#ffe2a6", "#bd9031"),
        ),
        Look(
            Verdict.CORRECTED,
            "≠",
            "refuted by a witness; a corrected statement is proved",
            Shade("#ad4f08", "#ffffff", "#853b03"),
            Shade("#d9803a", "#1d0e00", "#f0a768"),
        ),
        Look(
            Verdict.REFUTED,
            "✗",
            "refuted by a witness, and no small correction saves it",
            Shade("#93143a", "#ffffff", "#650b26"),
            Shade("#dd5a7c", "#1c0008", "#f293ab"),
        ),
        Look(
            Verdict.OPEN,
            "?",
            "none of these; the reason is given",
            Shade("#edebe6", "#55514a", "#8b867c"),
            Shade("#2a2a2d", "#c6c3bd", "#7d7a74"),
            "dotted",
        ),
        Look(
            DIFFERS,
            "!",
            "the ledgers reach different verdicts; the page of the claim shows each",
            Shade("#26242b", "#ffffff", "#8c8894"),
            Shade("#e9e6ee", "#1b1a1f", "#8c8894"),
            "double",
        ),
    )
}

SEVERITIES = {
    Severity.FATAL: "the claim falls",
    Severity.HYPOTHESIS: "something unstated is needed",
    Severity.SLIP: "a small fault with one repair",
    Severity.WORDING: "the words say more, or something else, than what holds",
}
ORIGINS: dict[str | None, str] = {
    Provenance.PRINTED: "As printed",
    Provenance.PARAPHRASED: "In our words, after the print",
    Provenance.RECONSTRUCTED: "Reconstructed: the formula is lost in our copy of the source",
    Provenance.ADDED: "Added by us: no line of the source states it",
    None: "As stated",
}
WORST_FIRST: tuple[str, ...] = tuple(SEVERITIES)


def rank(severity: str | None) -> int:
    """The place of a severity in the errata, worst first; an unknown one is last."""
    return WORST_FIRST.index(severity) if severity in WORST_FIRST else len(WORST_FIRST)


def stylesheet() -> str:
    """The style of every verdict, `.v-<verdict>`, in light and in dark."""
    return (
        "\n".join(
            f".v-{look.key} {{ --fill: light-dark({look.light.fill}, {look.dark.fill}); "
            f"--ink: light-dark({look.light.ink}, {look.dark.ink}); "
            f"--edge: light-dark({look.light.edge}, {look.dark.edge}); --border: {look.border}; }}"
            for look in LOOKS.values()
        )
        + f"\n:root {{ --paper: light-dark({PAPER['light']}, {PAPER['dark']}); }}\n"
    )
