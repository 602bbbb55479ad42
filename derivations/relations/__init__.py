"""The kinds of statements that the kernel can decide: each relation can try to prove and to refute itself."""

from derivations.relations.base import Counterexample as Counterexample
from derivations.relations.base import Entry as Entry
from derivations.relations.base import Hypothesis as Hypothesis
from derivations.relations.base import Relation as Relation
from derivations.relations.differs import Differs as Differs
from derivations.relations.disproof import Fails as Fails
from derivations.relations.equation import Equation as Equation
from derivations.relations.expansion import Expansion as Expansion
from derivations.relations.expansion import Solves as Solves
from derivations.relations.implication import Follows as Follows
from derivations.relations.inequality import AtLeast as AtLeast
from derivations.relations.limit import Limit as Limit
from derivations.relations.optimum import UniqueMaximum as UniqueMaximum
from derivations.relations.optimum import UniqueMinimum as UniqueMinimum
from derivations.relations.plan import Entries as Entries
from derivations.relations.plan import UniquePlan as UniquePlan
from derivations.relations.sameness import agree as agree
from derivations.relations.sameness import same as same
from derivations.relations.taylor import Taylor as Taylor
from derivations.relations.universal import ForAll as ForAll
from derivations.relations.unless_equal import StrictUnlessEqual as StrictUnlessEqual
from derivations.relations.unless_equal import divergence as divergence

RELATIONS: frozenset[type[Relation]] = frozenset(
    {Equation, Differs, AtLeast, StrictUnlessEqual, Limit, Expansion, Follows, UniqueMinimum, UniqueMaximum, UniquePlan, Fails}
)
"""The kernel's own kinds of statement; nothing else is examined, subclasses neither."""
