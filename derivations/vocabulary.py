"""The words of an author: `from derivations.vocabulary import *` opens each of our chapters.

Claims       `claim` registers one, `reprint` the same one printed elsewhere; a derivation yields `Steps` or returns
             `Undecidable`; a correction has a `Severity`, and a `Statement` where it is reprinted in other words
Variables    `size`, `index`, `scalar`, `positive`, `vector`, `simplex`, `interior`, `coupling`, `stochastic`, ... say what a
             symbol ranges over, as does `vector(…, kind=Positive)`; a vector is also the function of its entries, an `Entry`;
             `Point` and `Value` are the types of exact sample points
Expressions  SymPy's, with `total` for sums over an index, Kronecker's `delta`, `upto` for [i ≤ j] in sums up to an index and
             over pairs, `derivative`, `xlogx`, `kl`, `pinsker`, `bregman`, the positive part `plus`, `maximum`, `minimum`,
             `sigmoid`, `softplus`, `tanh`, `norm`, `relative` for x log(x/y), and `expectation` and `variance` of random
             vectors; in a document and in the cells of a notebook `*`, `/` and `**` keep a division by what may be 0, and
             elsewhere those of `derivations.calculus.division` do
Statements   the kinds of `Relation`: `Equation`, `AtLeast`, `UniqueMinimum`, `Limit`, ...; `Follows` concludes from earlier
             steps and from hypotheses, also `ForAll` indices, `Fails` refutes at an exact point
Theorems     `WEIERSTRASS`, `SLATER`, ... are quoted and not proved; `Theorem` states another one
"""

from derivations.calculus.balls import Point as Point
from derivations.calculus.balls import Value as Value
from derivations.calculus.functions import derivative as derivative
from derivations.calculus.functions import kl as kl
from derivations.calculus.functions import pinsker as pinsker
from derivations.calculus.functions import xlogx as xlogx
from derivations.calculus.moments import expectation as expectation
from derivations.calculus.moments import variance as variance
from derivations.calculus.orders import upto as upto
from derivations.calculus.powers import bregman as bregman
from derivations.calculus.powers import plus as plus
from derivations.calculus.shorthands import maximum as maximum
from derivations.calculus.shorthands import minimum as minimum
from derivations.calculus.shorthands import norm as norm
from derivations.calculus.shorthands import relative as relative
from derivations.calculus.shorthands import sigmoid as sigmoid
from derivations.calculus.shorthands import softplus as softplus
from derivations.calculus.shorthands import tanh as tanh
from derivations.calculus.sums import delta as delta
from derivations.calculus.sums import normal as normal
from derivations.calculus.sums import total as total
from derivations.calculus.variables import Variable as Variable
from derivations.calculus.variables import complementary as complementary
from derivations.calculus.variables import coupling as coupling
from derivations.calculus.variables import index as index
from derivations.calculus.variables import interior as interior
from derivations.calculus.variables import positive as positive
from derivations.calculus.variables import scalar as scalar
from derivations.calculus.variables import simplex as simplex
from derivations.calculus.variables import size as size
from derivations.calculus.variables import stochastic as stochastic
from derivations.calculus.variables import unit as unit
from derivations.calculus.variables import vector as vector
from derivations.domains import Nonnegative as Nonnegative
from derivations.domains import Nonzero as Nonzero
from derivations.domains import Positive as Positive
from derivations.domains import Random as Random
from derivations.domains import Real as Real
from derivations.records.claims import Severity as Severity
from derivations.records.claims import Statement as Statement
from derivations.records.theorems import BAILLON_HADDAD as BAILLON_HADDAD
from derivations.records.theorems import BOLZANO_WEIERSTRASS as BOLZANO_WEIERSTRASS
from derivations.records.theorems import CLOSED_PREIMAGE as CLOSED_PREIMAGE
from derivations.records.theorems import COMPLETENESS as COMPLETENESS
from derivations.records.theorems import CONVEX_CRITICAL_POINT as CONVEX_CRITICAL_POINT
from derivations.records.theorems import CONVEX_HESSIAN as CONVEX_HESSIAN
from derivations.records.theorems import DANSKIN as DANSKIN
from derivations.records.theorems import DOMINATED_CONVERGENCE as DOMINATED_CONVERGENCE
from derivations.records.theorems import FENCHEL_DUALITY as FENCHEL_DUALITY
from derivations.records.theorems import FENCHEL_MOREAU as FENCHEL_MOREAU
from derivations.records.theorems import FERMAT as FERMAT
from derivations.records.theorems import HEINE_BOREL as HEINE_BOREL
from derivations.records.theorems import IMPLICIT_FUNCTION as IMPLICIT_FUNCTION
from derivations.records.theorems import INTERMEDIATE_VALUE as INTERMEDIATE_VALUE
from derivations.records.theorems import KANTOROVICH_RUBINSTEIN as KANTOROVICH_RUBINSTEIN
from derivations.records.theorems import LINEAR_PROGRAMMING as LINEAR_PROGRAMMING
from derivations.records.theorems import MEAN_VALUE as MEAN_VALUE
from derivations.records.theorems import MOMENT_GENERATING_ANALYTIC as MOMENT_GENERATING_ANALYTIC
from derivations.records.theorems import SINKHORN as SINKHORN
from derivations.records.theorems import SLATER as SLATER
from derivations.records.theorems import SQUEEZE as SQUEEZE
from derivations.records.theorems import UNIQUE_SUBGRADIENT as UNIQUE_SUBGRADIENT
from derivations.records.theorems import WEIERSTRASS as WEIERSTRASS
from derivations.records.theorems import Theorem as Theorem
from derivations.register.claiming import Steps as Steps
from derivations.register.claiming import Undecidable as Undecidable
from derivations.register.claiming import claim as claim
from derivations.register.claiming import reprint as reprint
from derivations.relations import AtLeast as AtLeast
from derivations.relations import Differs as Differs
from derivations.relations import Entries as Entries
from derivations.relations import Entry as Entry
from derivations.relations import Equation as Equation
from derivations.relations import Expansion as Expansion
from derivations.relations import Fails as Fails
from derivations.relations import Follows as Follows
from derivations.relations import ForAll as ForAll
from derivations.relations import Limit as Limit
from derivations.relations import Relation as Relation
from derivations.relations import Solves as Solves
from derivations.relations import StrictUnlessEqual as StrictUnlessEqual
from derivations.relations import Taylor as Taylor
from derivations.relations import UniqueMaximum as UniqueMaximum
from derivations.relations import UniqueMinimum as UniqueMinimum
from derivations.relations import UniquePlan as UniquePlan
