"""The checklist after the references, where it answers for the document itself.

Claims     inference.sC.assumptions   M finite near 0  ⟹  ĥ = ĥ(αz) − α²Σ²z + o(α²): an assumption about u  (corrected)
References questions 1 (a), 2 (a), 2 (b) and 3 (a) of the checklist; what the answers are held against is judged where it is
           printed
"""

from derivations.documents.inference.section6_solution import any_preference, any_preference_near_zero, undefined_tilt
from derivations.vocabulary import *


@claim(
    "inference.sC.claims",
    "equivalence",
    title="The main claims reflect contributions and scope",
    latex=r"\text{1(a): abstract and introduction reflect the contributions and the scope}",
    needs=(
        "inference.s0.convex",
        "inference.s0.closed-form",
        "inference.s0.special-case",
        "inference.s0.t5",
        "inference.s1.solver",
    ),
)
def main_claims() -> Undecidable:
    """The checklist says that abstract and introduction accurately reflect what the paper contributes."""
    return Undecidable("accuracy has no measure; each claim of the abstract and of the introduction is judged by itself")


@claim(
    "inference.sC.assumptions",
    "equivalence",
    title="All assumptions of the theorems are stated",
    latex=r"\text{2(a): the full set of assumptions of all theoretical results is stated}",
    needs=("inference.thm2",),
)
def assumptions() -> Steps:
    """The checklist says that every assumption is stated; the second theorem states none about u, and needs one."""
    yield from undefined_tilt()


assumptions.corrected(
    r"\text{the second theorem needs that }M<\infty\text{ near }0",
    Severity.FATAL,
    replaces="the set of assumptions that is stated for the second theorem",
)(any_preference_near_zero)
for name, wrong in any_preference.twins.items():
    assumptions.twin(name, wrong)


@claim(
    "inference.sC.proofs",
    "equivalence",
    title="Complete proofs of the theorems are included",
    latex=r"\text{2(b): complete proofs of all theoretical results are included}",
    needs=("inference.thm1", "inference.thm2", "inference.cor1"),
)
def proofs() -> Undecidable:
    """The checklist says that complete proofs of all theorems are included."""
    return Undecidable(
        "what makes a proof complete is no formula: the first theorem is cited, the second follows from an "
        "expansion whose remainder is not bounded; whether they are true is judged where they are printed"
    )


@claim(
    "inference.sC.experiments",
    "external fact",
    title="The work contains no experimental study",
    latex=r"\text{3(a): a theoretical framework, no experimental study}",
    needs=("inference.fig3",),
)
def experiments() -> Undecidable:
    """The checklist says that there is no experimental study whose code and data could be included."""
    return Undecidable(
        "a matter of words: the third figure is computed, and the text draws a conclusion from it, but "
        "templates, weights and evidence are not printed; whether that is a study has no definition here"
    )
