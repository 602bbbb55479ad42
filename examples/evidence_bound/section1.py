"""Section 1: The bound.

Claims     evidence_bound.1, evidence_bound.2, evidence_bound.3, evidence_bound.4, evidence_bound.5, evidence_bound.6, evidence_bound.7, evidence_bound.8, evidence_bound.9, evidence_bound.10
Notation   notation.py
References evidence_bound.tex
"""

from evidence_bound.notation import NOTATION

from derivations import equation

equation("evidence_bound.1", r"Z = \sum_{k=1}^{K} e^{\ell_k}", NOTATION,
         title="Equation (1), eq:evidence", line=21, defines=True)

equation("evidence_bound.2", r"p_k = \frac{e^{\ell_k}}{Z}", NOTATION,
         title="Equation (2), eq:posterior", line=22, defines=True)

equation("evidence_bound.3", r"\sum_k p_k = 1", NOTATION,
         title="Equation (3), eq:mass", line=26)

equation("evidence_bound.4", r"\mathcal{L}(q) = \sum_k q_k \ell_k - \sum_k q_k \log q_k", NOTATION,
         title="Equation (4), eq:elbo", line=30, defines=True)

equation("evidence_bound.5", r"\mathcal{L}(q) = \mathbb{E}_q[\ell] + H(q)", NOTATION,
         title="Equation (5), eq:energy-entropy", line=34)

equation("evidence_bound.6", r"\log Z - \mathcal{L}(q) = D_{\mathrm{KL}}(q\,\|\,p)", NOTATION,
         title="Equation (6), eq:gap", line=38)

equation("evidence_bound.7", r"\log Z \ge \mathcal{L}(q)", NOTATION,
         title="Equation (7), eq:bound", line=39)

equation("evidence_bound.8", r"\log Z = \max_{q \in \Delta^{K-1}} \mathcal{L}(q)", NOTATION,
         title="Equation (8), eq:value", line=40)

equation("evidence_bound.9", r"p = \arg\max_{q \in \Delta^{K-1}} \mathcal{L}(q)", NOTATION,
         title="Equation (9), eq:argmax", line=41)

equation("evidence_bound.10", r"\mathcal{L}(q) = \log Z - D_{\mathrm{KL}}(p\,\|\,q)", NOTATION,
         title="Equation (10), eq:wrong-direction", line=45)
