"""Section 9: are α and α/γ small in practice?

Claims     deciphering.s9.small-ratio-in-practice   (α/γ) λ_max(Σ̄), beside 1: measured head by head in trained models
References "when both α and α/γ are small" in section 9, before (25)
"""

from derivations.vocabulary import *


@claim(
    "deciphering.s9.small-ratio-in-practice",
    "empirical",
    title="α/γ is small where attention by transport is used",
    latex=r"\tfrac\alpha\gamma\,\lambda_{\max}(\bar\Sigma)\ll1\text{ in practice}",
    needs=("deciphering.25",),
)
def small_ratio() -> None:
    """The closed form of attention by transport rests on a small α/γ, which its use as a layer takes for granted."""
