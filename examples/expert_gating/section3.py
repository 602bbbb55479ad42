"""Section 3: Balancing the load.

Claims     expert_gating.14, expert_gating.15, expert_gating.16, expert_gating.17, expert_gating.18, expert_gating.19, expert_gating.20, expert_gating.21, expert_gating.22, expert_gating.23, expert_gating.24
Notation   notation.py
References expert_gating.tex
"""

from expert_gating.notation import NOTATION

from derivations import equation

equation("expert_gating.14", r"m_i = \frac{1}{T} \sum_{t=1}^{T} G_{ti}", NOTATION,
         title="Equation (14), eq:load", line=51, defines=True)

equation("expert_gating.15", r"\mathcal{B}(f) = n \sum_{i=1}^{n} f_i^2", NOTATION,
         title="Equation (15), eq:balance", line=55, defines=True)

equation("expert_gating.16", r"c(f) = n \sum_{i=1}^{n} \Bigl(f_i - \frac{1}{n}\Bigr)^2", NOTATION,
         title="Equation (16), eq:variation", line=56, defines=True)

equation("expert_gating.17", r"\mathcal{B}(f) = 1 + c(f)", NOTATION,
         title="Equation (17), eq:shift", line=60)

equation("expert_gating.18", r"\mathcal{B}(f) \ge 1", NOTATION,
         title="Equation (18), eq:least", line=61)

equation("expert_gating.19", r"\mathcal{B}(f) \ge n", NOTATION,
         title="Equation (19), eq:wrong-least", line=62)

equation("expert_gating.20", r"H(f) \le \log n", NOTATION,
         title="Equation (20), eq:entropy-bound", line=66)

equation("expert_gating.21", r"\log n - H(f) = \sum_{i=1}^{n} f_i \log (n f_i)", NOTATION,
         title="Equation (21), eq:entropy-gap", line=67)

equation("expert_gating.22", r"\log n - H(f) = \sum_{i=1}^{n} f_i \log \frac{f_i}{n}", NOTATION,
         title="Equation (22), eq:wrong-gap", line=68)

equation("expert_gating.23", r"p = \arg\max_{f \in \Delta^{n-1}} \left\{ \langle f, u \rangle + H(f) \right\}", NOTATION,
         title="Equation (23), eq:gate-problem", line=72)

equation("expert_gating.24", r"p = \arg\max_{f \in \Delta^{n-1}} \left\{ \langle f, u \rangle + 2 H(f) \right\}", NOTATION,
         title="Equation (24), eq:wrong-problem", line=73)
