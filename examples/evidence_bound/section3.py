"""Section 3: Tempering.

Claims     evidence_bound.20, evidence_bound.21, evidence_bound.22, evidence_bound.23, evidence_bound.24, evidence_bound.25, evidence_bound.26, evidence_bound.27
Notation   notation.py
References evidence_bound.tex
"""

from evidence_bound.notation import NOTATION

from derivations import equation

equation("evidence_bound.20", r"F(q) = \mathbb{E}_q[\ell] + \beta H(q)", NOTATION,
         title="Equation (20), eq:tempered", line=72, defines=True)

equation("evidence_bound.21", r"r_k = \frac{e^{\ell_k/\beta}}{\sum_{j} e^{\ell_j/\beta}}", NOTATION,
         title="Equation (21), eq:tempered-posterior", line=76, defines=True)

equation("evidence_bound.22", r"r = \arg\max_{q \in \Delta^{K-1}} F(q)", NOTATION,
         title="Equation (22), eq:tempered-argmax", line=77)

equation("evidence_bound.23", r"\max_{q \in \Delta^{K-1}} F(q) = \beta \log \sum_k e^{\ell_k/\beta}", NOTATION,
         title="Equation (23), eq:tempered-value", line=78)

equation("evidence_bound.24", r"\max_{q \in \Delta^{K-1}} F(q) = \log \sum_k e^{\ell_k/\beta}", NOTATION,
         title="Equation (24), eq:wrong-temperature", line=79)

equation("evidence_bound.25", r"\frac{\partial}{\partial \ell_j} \Bigl(\beta \log \sum_k e^{\ell_k/\beta}\Bigr) = r_j", NOTATION,
         title="Equation (25), eq:envelope", line=83)

equation("evidence_bound.26", r"\frac{\partial r_k}{\partial \ell_j} = \frac{1}{\beta} r_k (\delta_{kj} - r_j)", NOTATION,
         title="Equation (26), eq:jacobian", line=84)

equation("evidence_bound.27", r"\frac{\partial r_k}{\partial \ell_j} = r_k (\delta_{kj} - r_j)", NOTATION,
         title="Equation (27), eq:wrong-jacobian", line=85)
