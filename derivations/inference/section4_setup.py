"""Section 4: the unknown distribution, its prior guess and the noisy evidence.

Claims     inference.4, inference.5, inference.s4.preference, inference.s4.mean-shift, inference.s4.shift-of-mu,
           inference.s4.estimate-of-h, inference.s4.previous-words
Notation   that of `derivations.deciphering.section3_setup`, which derives what both documents print
References Section 4 of the document
"""

from derivations import reprint
from derivations.deciphering import section3_setup as setup

reprint("inference.4", setup.mean_of_distribution, latex=r"h=\int ap(a)da")
reprint("inference.s4.preference", setup.preference_distribution, latex=r"u_1,\dots,u_M\ne0,\quad\textstyle\sum_iu_i=1")
reprint("inference.s4.mean-shift", setup.mean_shift, latex=r"h-\mu=\textstyle\sum_i(p_i-u_i)t_i")
reprint("inference.5", setup.noisy_shift, latex=r"z=h-\mu+\epsilon,\quad\epsilon\sim\mathcal N(0,\sigma^2I)")
reprint("inference.s4.shift-of-mu", setup.shift_of_mu,
        latex=r"z\text{ predicts the shift }\mu-h\text{ of the mean }\mu\text{ from }h")
reprint("inference.s4.previous-words", setup.previous_words, latex=r"Y^{(i<t)}\text{, the words generated before }Y^{(k)}",
        statement="What is generated before the k-th word is written with a bound t that is defined nowhere in the document.")
reprint("inference.s4.estimate-of-h", setup.estimate_of_h,
        latex=r"\mathbb E[\mu+z]=h,\quad\mathbb E\|\mu+z-h\|^2=d\sigma^2")
