"""Section 4: statements about the three examples.

Claims     inference.s4.strong-constraint   supp r ⊆ T  ⟹  KL(r ‖ 1/|𝒜|) ≥ log(|𝒜|/M)
           inference.s4.words-so-far        ‖u − p‖² + ‖u − q‖² ≥ ½‖p − q‖²
           inference.s4.caption-places      P(i, k) = v_i w_k and v_i = 1/m  ⟹  u_i = 1/m
           inference.s4.within-support      KL(p ‖ q(·|T)) = KL(p ‖ q) + log q(T) ≤ KL(p ‖ q)  (corrected)
Notation   that of `deciphering.section3_examples` and `section3_support`, which derive what both documents print
References Section 4 of the document
"""

from derivations.documents.deciphering import section3_examples as examples
from derivations.documents.deciphering import section3_support as support
from derivations.documents.deciphering.section2_related import similar_models
from derivations.vocabulary import *

reprint(
    "inference.s4.blanks-train-bert", examples.blanks_train_bert, latex=r"\text{BERT's loss looks at the words to be filled in}"
)
reprint(
    "inference.s4.strong-constraint",
    support.strong_constraint,
    latex=r"\textstyle\sum_{i=1}^Mr_i\log(Nr_i)\ge\log\frac NM\text{ for all }r\in\Delta^{M-1}",
)
reprint(
    "inference.s4.similar-models", similar_models, latex=r"\text{Fig 2a}\sim[1],\ \text{Fig 2b}\sim[29],\ \text{Fig 2c}\sim[5]"
)
reprint("inference.s4.similar-places", examples.similar_places, latex=r"u_i^{(k)}\text{ larger for }i\approx k")
reprint("inference.s4.words-so-far", support.words_so_far, latex=r"\|u-p\|^2+\|u-q\|^2\ge\tfrac12\|p-q\|^2")
reprint("inference.s4.caption-places", examples.caption_places, latex=r"P(i,k)=v_iw_k\implies u_i^{(k)}=1/m")
reprint("inference.s4.mixes-in", examples.mixes_in, latex=r"t\notin\mathbf T\text{ similar}\implies\text{possibly harmful}")
reprint("inference.s4.within-support", support.within_support, latex=r"\|h_{q(\cdot|\mathbf T)}-h\|\le\|h_q-h\|")
reprint(
    "inference.s4.interpretation",
    examples.interpretation,
    latex=r"g\text{ as designed}\implies f_{\mathrm{evd}},f_{\mathrm{pref}}\text{ produce }z,u",
)
