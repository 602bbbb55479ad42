"""Abstract and section 1: what the document announces.

Claims     inference.s0.convex, inference.s0.closed-form, inference.s0.special-case, inference.s0.t5, inference.s1.solver
References the abstract of the document, and section 1, which repeats it; section 1 of deciphering for the derivations
"""

from derivations import Steps, claim, reprint
from derivations.deciphering.section1_abstract import approximation, convex, solver
from derivations.deciphering.section7_attention import uniform_preference
from derivations.inference.section7_t5 import t5_adopts, t5_structure

reprint("inference.s0.convex", of=convex, latex=r"P(p)\ge P(v)+\langle\nabla P(v),p-v\rangle")
reprint("inference.s0.closed-form", of=approximation, latex=r"\hat h(\alpha)=\hat h_{(20)}(\alpha)+o(\alpha)")
reprint("inference.s0.special-case", of=uniform_preference, latex=r"\text{a special case is dot-product attention}")


@claim("inference.s0.t5", "external fact", title="T5 has adopted the general form, which unifies word mask and positions",
       latex=r"\text{T5}=V\circ(21),\quad u_i\propto e^{b_{j-i}}\text{ where the word mask shows word }i,\ 0\text{ elsewhere}",
       needs=("inference.23", "inference.s7.unified"))
def t5_has_adopted() -> Steps:
    """T5 is said to have adopted the general form: one preference holds its word mask and its position encoding.

    A word mask is read as T5's own, its attention mask; where the text has it hide the words to be filled in, it is judged
    there.
    """
    yield from t5_adopts()


for name, wrong in t5_structure.twins.items():
    t5_has_adopted.twin(name, wrong)

reprint("inference.s1.solver", of=solver,
        latex=r"\text{attention is in fact a solver for a certain type of optimization problem}")
