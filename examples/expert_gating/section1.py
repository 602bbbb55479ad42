"""Section 1: Gates.

Claims     expert_gating.1, expert_gating.2, expert_gating.3, expert_gating.4, expert_gating.5, expert_gating.6
Notation   notation.py
References expert_gating.tex
"""

from expert_gating.notation import NOTATION

from derivations import equation

equation("expert_gating.1", r"s_i = \sum_{a=1}^{d} W_{ia} x_a, \qquad i = 1, \dots, n", NOTATION,
         title="Equation (1), eq:logits", line=13, defines=True)

equation("expert_gating.2", r"g = \operatorname{softmax}(s / \tau)", NOTATION,
         title="Equation (2), eq:gates", line=14, defines=True)

equation("expert_gating.3", "g_i > 0", NOTATION,
         title="Equation (3), eq:positive", line=18)

equation("expert_gating.4", r"\sum_{i=1}^{n} g_i = 1", NOTATION,
         title="Equation (4), eq:sum", line=19)

equation("expert_gating.5", r"g_i e^{s_j/\tau} = g_j e^{s_i/\tau}", NOTATION,
         title="Equation (5), eq:ratio", line=23)

equation("expert_gating.6", r"y = \langle g, v \rangle", NOTATION,
         title="Equation (6), eq:mixture", line=27, defines=True)
