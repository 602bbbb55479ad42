"""Abstract and section 1: how widely attention is used, how little it is understood, and what is new.

Claims     deciphering.s1.pivotal   without attention the change of one word changes one output: reached = 1
Notation   reached = how many words' outputs change with one word of WORDS, where attention gives nothing
References the abstract, the first two paragraphs and the end of the third one of section 1; section 10 where it repeats them;
           BertModel and T5EncoderModel in transformers
"""

from derivations.vocabulary import *

WORDS = 4
reached = scalar("reached")


@claim(
    "deciphering.s0.widely-used",
    "external fact",
    title="Attention is widely used, and has improved many models",
    latex=r"\text{part of many state-of-the-art models, with significant improvements}",
)
def widely_used() -> Undecidable:
    """Attention is said to be part of state-of-the-art models, which it improved and which changed a broad range of tasks."""
    return Undecidable(
        "a statement about the use of models at a time and about what they are compared with, which no formula "
        "and no code can settle"
    )


@claim(
    "deciphering.s0.little-understood",
    "external fact",
    title="Attention is little understood",
    latex=r"\text{no in-depth understanding of why attention-based models perform better}",
)
def little_understood() -> Undecidable:
    """The principle by which attention is designed is said to be hardly studied, and its success to be unexplained."""
    return Undecidable(
        "a judgement of a literature, without a criterion of understanding; the document cites theories of "
        "attention as a Gaussian process and as a Hopfield network"
    )


@claim(
    "deciphering.s0.central",
    "external fact",
    title="Deep learning is full of such problems",
    latex=r"\text{the problem is central to many estimation tasks prevalent in deep learning}",
    needs=("deciphering.s3.similar-models",),
)
def central() -> Undecidable:
    """Problems of this form are said to be central to many tasks, and to arise naturally as networks are designed."""
    return Undecidable(
        "how often a problem arises is not counted: three examples are given, in which nothing is estimated "
        "unless one reads a layer so"
    )


@claim(
    "deciphering.s1.pivotal",
    "external fact",
    title="Attention is pivotal in the transformer",
    latex=r"\text{without attention, a change of one word reaches one output}",
)
def pivotal() -> None:
    """Attention is pivotal: all that is left of a transformer without it works on each word alone."""


pivotal.twin("all words are reached without it", lambda: Equation(reached, WORDS))
pivotal.twin("not even the word itself is reached", lambda: Equation(reached, 0))


@claim(
    "deciphering.s1.limits",
    "external fact",
    title="The gap limits practitioners",
    latex=r"\text{the gap limits practitioners and makes new architectures difficult}",
    needs=("deciphering.s0.little-understood",),
)
def limits() -> Undecidable:
    """That attention is little understood is said to limit those who use it and those who develop new architectures."""
    return Undecidable("a statement about the work of others: nothing is measured, and nothing in the document rests on it")


@claim(
    "deciphering.s1.novel",
    "external fact",
    title="The attention from optimal transport is novel",
    latex=r"\text{a novel attention based on optimal transport}",
    needs=("deciphering.25",),
)
def novel() -> Undecidable:
    """The attention that is derived from optimal transport is called novel."""
    return Undecidable(
        "a claim of priority, without a comparison: attention weights by transport plans were published before "
        "(Tay et al., 2020; Sander et al., 2022), with the plan in place of its row sums"
    )
