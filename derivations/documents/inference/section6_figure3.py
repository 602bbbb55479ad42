"""Section 6, Figure 3: the same figure as in `deciphering`.

Claims     inference.s6.smaller-alpha-better   ĥ(αz) − ĥ = α²Σ²z + o(α²), for small α
References Figure 3 of the document and the text about it
"""

from derivations.documents.deciphering.section6_figure3 import figure, monotone
from derivations.vocabulary import *

reprint(
    "inference.s6.smaller-alpha-better",
    monotone,
    latex=r"\alpha_2\le\alpha_1 \implies \|\hat h_{(20)}-\hat h\|(\alpha_2)\le\|\hat h_{(20)}-\hat h\|(\alpha_1)",
)

reprint(
    "inference.fig3",
    figure,
    title="The third figure: the closed form beside the exact estimate",
    latex=r"\hat h_{(20)} \approx \hat h \text{ for small } \alpha",
)
