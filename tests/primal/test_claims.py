"""The primal layer's vote on every claim it can speak to."""

from collections.abc import Callable

import numpy as np
import pytest

import tests.primal
from derivations.claims import Evidence, Layer, Outcome
from numerics.primal import coupling
from tests.layers import Case, assert_sound, parameters, vote_on


@pytest.mark.parametrize("case", parameters(Layer.PRIMAL, tests.primal))
def test_primal(case: Case, request: pytest.FixtureRequest, record_evidence: Callable[[Evidence], None]) -> None:
    evidence = vote_on(case, quick=request.config.option.quick)
    record_evidence(evidence)
    assert_sound(evidence)


@pytest.mark.claim("eot.s3.sparse-solutions", Layer.PRIMAL)
def test_sparsity_of_optimal_plans(record_evidence: Callable[[Evidence], None]) -> None:
    rng = np.random.default_rng(0)
    sizes = [(4, 4), (6, 9), (12, 12)] * 4
    supports = []
    for n, m in sizes:
        a, b = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
        plan = coupling.solve_transport(rng.random((n, m)), a, b).plan
        supports.append((int((plan > 1e-9).sum()), n + m - 1, n * m))
    within = all(found <= vertex for found, vertex, _ in supports)
    share = float(np.mean([found / whole for found, _, whole in supports]))
    record_evidence(Evidence(
        claim="eot.s3.sparse-solutions",
        layer=Layer.PRIMAL,
        outcome=Outcome.HOLDS if within else Outcome.REFUTED,
        scope=f"{len(sizes)} random problems up to 12 × 12, generic costs, a simplex solver",
        detail=f"the document: often very sparse; here {share:.0%} of the paths are used on average, never more than "
        "n + m − 1, for costs without ties; with equal costs dense plans are optimal too (eot.s3.eps-to-zero)",
    ))
    assert within
