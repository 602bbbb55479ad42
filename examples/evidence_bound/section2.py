"""Section 2: An exponential family.

Claims     evidence_bound.11, evidence_bound.12, evidence_bound.13, evidence_bound.14, evidence_bound.15, evidence_bound.16, evidence_bound.17, evidence_bound.18, evidence_bound.19
Notation   notation.py
References evidence_bound.tex
"""

from evidence_bound.notation import NOTATION

from derivations import equation

equation("evidence_bound.11", r"A(\theta) = \log \sum_{k=1}^{K} h_k e^{\theta t_k}", NOTATION,
         title="Equation (11), eq:partition", line=52, defines=True)

equation("evidence_bound.12", r"f_k = h_k e^{\theta t_k - A(\theta)}", NOTATION,
         title="Equation (12), eq:family", line=53, defines=True)

equation("evidence_bound.13", r"\frac{\partial A}{\partial \theta} = \mathbb{E}_f[t]", NOTATION,
         title="Equation (13), eq:mean", line=57)

equation("evidence_bound.14", r"\frac{\partial^2 A}{\partial \theta^2} = \operatorname{Var}_f(t)", NOTATION,
         title="Equation (14), eq:variance", line=58)

equation("evidence_bound.15", r"\frac{\partial^2 A}{\partial \theta^2} \ge 0", NOTATION,
         title="Equation (15), eq:convex", line=59)

equation("evidence_bound.16", r"\frac{\partial^2 A}{\partial \theta^2} = \mathbb{E}_f[t^2]", NOTATION,
         title="Equation (16), eq:wrong-moment", line=60)

equation("evidence_bound.17", r"\frac{\partial \log f_k}{\partial \theta} = t_k - \mathbb{E}_f[t]", NOTATION,
         title="Equation (17), eq:score", line=64)

equation("evidence_bound.18", r"\mathbb{E}_{k \sim f}\left[\frac{\partial \log f_k}{\partial \theta}\right] = 0", NOTATION,
         title="Equation (18), eq:score-mean", line=65)

equation("evidence_bound.19", r"\mathbb{E}_{k \sim f}\left[\Bigl(\frac{\partial \log f_k}{\partial \theta}\Bigr)^2\right] = \operatorname{Var}_f(t)", NOTATION,
         title="Equation (19), eq:fisher", line=66)
