"""Section 2: Learning the gate.

Claims     expert_gating.7, expert_gating.8, expert_gating.9, expert_gating.10, expert_gating.11, expert_gating.12, expert_gating.13
Notation   notation.py
References expert_gating.tex
"""

from expert_gating.notation import NOTATION

from derivations import equation

equation("expert_gating.7", r"p_i = \frac{\exp(u_i)}{\sum_{j=1}^{n} \exp(u_j)}, \qquad M = \sum_{i=1}^{n} p_i v_i", NOTATION,
         title="Equation (7), eq:free", line=33, defines=True)

equation("expert_gating.8", r"\frac{\partial p_i}{\partial u_j} = p_i (\delta_{ij} - p_j)", NOTATION,
         title="Equation (8), eq:gate-jacobian", line=37)

equation("expert_gating.9", r"\frac{\partial M}{\partial u_j} = p_j (v_j - M)", NOTATION,
         title="Equation (9), eq:mixture-gradient", line=38)

equation("expert_gating.10", r"\frac{\partial M}{\partial u_j} = p_j v_j", NOTATION,
         title="Equation (10), eq:wrong-gradient", line=39)

equation("expert_gating.11", r"\sum_{j=1}^{n} \frac{\partial M}{\partial u_j} = 0", NOTATION,
         title="Equation (11), eq:null", line=40)

equation("expert_gating.12", r"\nabla_u M = \left(\operatorname{diag}(p) - p p^\top\right) v", NOTATION,
         title="Equation (12), eq:matrix-form", line=41)

equation("expert_gating.13", r"w^\top \left(\operatorname{diag}(p) - p p^\top\right) w = \sum_{i=1}^{n} p_i \Bigl(w_i - \sum_{j=1}^{n} p_j w_j\Bigr)^2", NOTATION,
         title="Equation (13), eq:psd", line=45)
