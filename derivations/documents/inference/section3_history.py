"""Section 3: where the problem comes from.

Claims     inference.s3.origin   where the problem comes from: what papers contain, which is open
References section 3 of the document after (1); Rioux et al. (2020), Gamboa (1989)
"""

from derivations.vocabulary import *


@claim(
    "inference.s3.origin",
    "external fact",
    title="Maximum entropy on the mean, from Gamboa to deblurring",
    latex=r"\text{[21] develop (1) by MEM, due to [6] and not widely known in machine learning}",
    needs=("inference.s3.perspectives",),
)
def origin() -> Undecidable:
    """Problem (1) is said to be developed for deblurring by a method of Gamboa's that is little known in machine learning."""
    return Undecidable(
        "what papers contain and who knows a method are beyond proof and code; that the method leads to the "
        "problem is inference.s3.perspectives"
    )
