"""Section 3: statements about the three examples, vocabularies, captions and words in order.

Claims     deciphering.s3.caption-places     P(i, k) = v_i w_k and v_i = 1/m  ⟹  u_i = 1/m
           deciphering.s3.large-vocabulary   |𝒜| > 10⁴ in the models that are shipped
Notation   predicted = at how many words the loss looks; words = the size of a vocabulary; v_i, w_k the shares of places i of
           an image and of places k of a caption, J[i, k] their joint shares
References sections 3 to 3.2 of the document; BertForMaskedLM, BertConfig and T5Config in transformers
"""

import sympy as sp

from derivations.vocabulary import *

BLANKS, LENGTH = 2, 7
predicted, words = scalar("predicted"), scalar("words")


@claim(
    "deciphering.s3.unified",
    "equivalence",
    title="The three problems have one form",
    latex=r"\text{TP, IC, FB: estimate }h\text{ from }u\text{ and a noisy }h-\mu",
    needs=("deciphering.2", "deciphering.3"),
)
def unified() -> Undecidable:
    """The examples are said to be, naturally, estimates of a mean from a prototype and a noisy deviation from its mean."""
    return Undecidable(
        "the form excludes nothing: any h among the means of the templates, any u and z = h − μ + ε fit it; "
        "that a network's vectors are these is an assumption about it"
    )


@claim(
    "deciphering.s3.blanks-train-bert",
    "external fact",
    title="Filling in blanks has been used to train BERT",
    latex=r"\text{BERT's loss looks at the words to be filled in}",
)
def blanks_train_bert() -> None:
    """To fill in words is what BERT was trained for: its loss looks at the words that were chosen for it and at no others."""


blanks_train_bert.twin("all words are predicted", lambda: Equation(predicted, LENGTH))
blanks_train_bert.twin("the next word is predicted", lambda: Equation(predicted, LENGTH - 1))


@claim(
    "deciphering.s3.typical-extractors",
    "external fact",
    title="Networks typically extract the templates",
    latex=r"\text{typically RNN or LSTM for words, CNN for images}",
)
def typical_extractors() -> Undecidable:
    """Templates are said to be typically extracted by recurrent networks for words and by convolutional ones for images."""
    return Undecidable("what is typical is a statement about the use of models at a time, and no later line rests on it")


@claim(
    "deciphering.s3.large-vocabulary", "external fact", title="𝒜 can hold more than 10,000 words", latex=r"|\mathcal A|>10^4"
)
def large_vocabulary() -> None:
    """In translation the set of all templates could contain more than ten thousand words."""


large_vocabulary.twin("more than a hundred thousand", lambda: AtLeast(words, 10**5, strict=True))
large_vocabulary.twin("more than a million", lambda: AtLeast(words, 10**6, strict=True))


@claim(
    "deciphering.s3.prior-knowledge",
    "equivalence",
    title="Prior knowledge has to be injected",
    latex=r"\mathcal A\text{ huge or infinite}\implies\text{inject prior knowledge}",
    needs=("deciphering.s3.large-vocabulary", "deciphering.s3.strong-constraint"),
)
def prior_knowledge() -> Undecidable:
    """Because the set of templates may be huge or infinite, it is said to be important that one can inject prior knowledge."""
    return Undecidable(
        "a motive for a design, which is not said to fail without it; how much a support within T excludes is "
        "deciphering.s3.strong-constraint"
    )


@claim(
    "deciphering.s3.similar-places",
    "external fact",
    title="Words of a translation stay in similar places",
    latex=r"u_i^{(k)}\text{ larger for }i\approx k",
)
def similar_places() -> Undecidable:
    """A word of a translation is said to depend largely on words at similar places, to which u should give more weight."""
    return Undecidable(
        "it depends on the two languages: no distance of places and no share of weight is named, and no corpus is looked at"
    )


places, caption = size("m"), size("K")
i, k = index("i", places), index("k", caption)
first = index("h", places)
v, w = interior("v", places), interior("w", caption)


def given_place(share: Entry, right: sp.Expr) -> Equation:
    """The share of the place i among all, given the place k in the caption, where the joint shares are share(i) w_k."""
    return Equation(
        share(i) * w[k] / total(first, share(first) * w[k]), right, about=(k,), reason="independence takes k out of the share"
    )


def alike(right: sp.Expr) -> Equation:
    """The same where all places in the image have the share 1/m."""
    return given_place(lambda position: 1 / places, right)


@claim(
    "deciphering.s3.caption-places",
    "identity",
    title="Independent places mean equal weights",
    hypotheses=("a word's place in the caption is independent of where its object is in the image",),
    latex=r"P(i,k)=v_iw_k\implies u_i^{(k)}=1/m",
)
def caption_places() -> Steps:
    """As a word's place tells nothing of where its object is, all templates of the image have the same preference weight."""
    yield given_place(v, v[i])
    yield Fails(
        Equation(
            given_place(v, v[i]).left,
            1 / places,
            at={places: 2, caption: 1, v.label: [sp.Rational(1, 4), sp.Rational(3, 4)], w.label: [1], i: 1, k: 1},
        ),
        reason="objects may prefer the middle of an image: all words then have the same weights, which are not equal",
    )


@caption_places.corrected(
    r"P(i,k)=\tfrac1mw_k\implies u_i^{(k)}=1/m",
    Severity.HYPOTHESIS,
    under="before the caption is read no place in the image is likelier than another, v_i = 1/m",
    replaces="the share v_i of a place",
)
def equal_weights() -> Steps:
    """Independence gives all words of the caption one preference; it is uniform where the places in the image are alike."""
    yield alike(1 / places)


caption_places.twin("the place of the word counts", lambda: alike(w[k] / places))
caption_places.twin("weights that do not sum to one", lambda: alike(sp.S.One))


@claim(
    "deciphering.s3.mixes-in",
    "external fact",
    title="Templates outside T may mix in what is not in the image",
    latex=r"t\notin\mathbf T\text{ similar}\implies\text{possibly harmful}",
    needs=("deciphering.s3.within-support",),
)
def mixes_in() -> Undecidable:
    """Similar objects, a zebra and a horse, have similar features; the image's caption might name one that is not there."""
    return Undecidable(
        "“possibly” excludes nothing, and which features a network extracts is not said; where synonyms should "
        "not matter the same mixing is what one wants (deciphering.s9.shares-weight)"
    )


@claim(
    "deciphering.s3.interpretation",
    "equivalence",
    title="Trained modules can be interpreted as evidence and preference",
    latex=r"g\text{ as designed}\implies f_{\mathrm{evd}},f_{\mathrm{pref}}\text{ produce }z,u",
    needs=("deciphering.s7.context-dependent",),
)
def interpretation() -> Undecidable:
    """If g is designed so, trained modules are said to be open to being read as producing the z and the u that were assumed."""
    return Undecidable(
        "no output of a network contradicts such a reading; it is not unique either, since a preference that is "
        "log-linear in the template trades against the evidence (deciphering.s7.context-dependent)"
    )
