"""Section 6 of the earlier version: is α small in practice?

Claims     inference.s6.small-alpha-in-practice   α λ_max(Σ) beside 1, for α = 1/√d: measured head by head
References "Now we assume that α is small and we argue that this assumption is justified in practice" in section 6
"""

from derivations.vocabulary import *


@claim(
    "inference.s6.small-alpha-in-practice",
    "empirical",
    title="A small α is justified in practice",
    latex=r"\alpha\,\lambda_{\max}(\Sigma)\ll1\text{ in practice},\quad\alpha=\tau^{-1/2}",
    needs=("inference.thm2",),
)
def small_alpha() -> None:
    """That α is small is said to be justified in practice; scores over √d are read as α = 1/√d, and αΣ is to be small."""
