"""The eight arms of the experiment, and the contrasts between them that measure the effect of each ingredient.

The document compares two of them, ``vit`` and ``ot-vit``.  They differ in three things: the last layer's keys and values are
one (and its temperature is √hidden); its weights come from a transport cost; and in training the templates of another image
of the same class take part, which gives the model information about the labels that the plain one lacks.  The first six
arms are all combinations that exist.  The last two are other readings of the document: the prior is even on all of T, not
on the input's templates; or the layer keeps ViT's keys and values, and with them exactly its number of parameters.

Claims      deciphering.tab1
"""

from dataclasses import dataclass

from numerics.experiments.ot_vit.model import Kind


@dataclass(frozen=True)
class Arm:
    """A model and the way it is trained.

    Attributes:
        name: of the arm.
        kind: the attention of its last layer.
        shares: whether, half of the time, templates of another training image of the same class take part.
        description: what it is, in words.
    """

    name: str
    kind: Kind
    shares: bool
    description: str


ARMS = {
    arm.name: arm
    for arm in (
        Arm("vit", Kind.ORDINARY, False, "the document's ViT"),
        Arm("vit-shared", Kind.ORDINARY, True, "ViT, templates of the same class in training"),
        Arm("tied", Kind.TIED, False, "OT-ViT's layer with M = 0, no templates of others"),
        Arm("tied-shared", Kind.TIED, True, "OT-ViT's layer with M = 0"),
        Arm("ot", Kind.TRANSPORT, False, "OT-ViT, no templates of others"),
        Arm("ot-vit", Kind.TRANSPORT, True, "the document's OT-ViT"),
        Arm("ot-vit-even", Kind.TRANSPORT_EVEN, True, "OT-ViT, prior even on all templates"),
        Arm("ot-vit-untied", Kind.TRANSPORT_UNTIED, True, "OT-ViT with ViT's keys and values"),
    )
}


@dataclass(frozen=True)
class Contrast:
    """A difference of arms: the sum of some minus the sum of others, seed by seed."""

    description: str
    plus: tuple[str, ...]
    minus: tuple[str, ...]

    @property
    def formula(self) -> str:
        """The contrast as text."""
        minus = " − ".join(self.minus)
        return f"{' + '.join(self.plus)} − {minus}"


CONTRASTS = (
    Contrast("the document's comparison", ("ot-vit",), ("vit",)),
    Contrast("templates of the class, ordinary attention", ("vit-shared",), ("vit",)),
    Contrast("templates of the class, tied attention", ("tied-shared",), ("tied",)),
    Contrast("templates of the class, OT attention", ("ot-vit",), ("ot",)),
    Contrast("keys tied to values, alone", ("tied",), ("vit",)),
    Contrast("keys tied to values, with templates of the class", ("tied-shared",), ("vit-shared",)),
    Contrast("transport cost, same parameters, alone", ("ot",), ("tied",)),
    Contrast("transport cost, same parameters, with templates of the class", ("ot-vit",), ("tied-shared",)),
    Contrast("OT attention, alone", ("ot",), ("vit",)),
    Contrast("OT attention, with templates of the class", ("ot-vit",), ("vit-shared",)),
    Contrast("what the cost adds to the use of templates of the class", ("ot-vit", "tied"), ("ot", "tied-shared")),
    Contrast("prior on all templates, not on the input's", ("ot-vit-even",), ("ot-vit",)),
    Contrast("the document's comparison, same parameters", ("ot-vit-untied",), ("vit",)),
    Contrast("the same, both with templates of the class", ("ot-vit-untied",), ("vit-shared",)),
)
