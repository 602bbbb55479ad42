"""Section 6: is α small in practice?

Claims     deciphering.s6.small-alpha-in-practice   α λ_max(Σ) beside 1, for α = 1: measured head by head
References "Now we assume that α is small and we argue that this assumption is justified in practice" in section 6
"""

from derivations.vocabulary import *


@claim(
    "deciphering.s6.small-alpha-in-practice",
    "empirical",
    title="A small α is justified in practice",
    latex=r"\alpha\,\lambda_{\max}(\Sigma)\ll1\text{ in practice}",
    needs=("deciphering.thm2",),
)
def small_alpha() -> None:
    """That α is small, on which the closed form rests, is said to be justified in practice; where it is, αΣ is small."""
