"""Every inequality of `beyond` is searched for violations; every bound that is called sharp is attained to 1e-6.

What is attained only in a limit has a claim of its own that says so, and an explicit instance here that is near to it.
"""

import inspect
from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor

from derivations.records.claims import Kind
from derivations.register.catalogue import entries
from evidence.beyond import search, transport_bounds
from evidence.beyond.output_bounds import solved
from evidence.beyond.search import ATTAINED, Problem
from evidence.registry import OBSERVATIONS, load

CLAIMS = [id for id, entry in entries().items() if entry.claim.document == "beyond"]
INEQUALITIES = [id for id in CLAIMS if entries()[id].claim.kind is Kind.INEQUALITY]
Values = Mapping[str, Tensor]
TINY = 7e-4


def problems() -> dict[str, Problem]:
    """The searches, by claim."""
    load(CLAIMS)
    searches = ((id, each.observe) for id in CLAIMS for each in OBSERVATIONS.get(id, {}).values() if each.name == "search")
    return {id: inspect.getclosurevars(observe).nonlocals["problem"] for id, observe in searches}


def case(*numbers: object) -> Tensor:
    """One instance."""
    return torch.tensor([*numbers], dtype=torch.float64)[None]


def opposite() -> Values:
    """Two templates ±r of equal weight and a tiny query; for 0 a shorter one."""
    return solved(
        {
            "T": case([0.5, 0.0], [-0.5, 0.0]),
            "u": case(0.0, 0.0),
            "lam": case(TINY, 0.0),
            "y": case(0.0, 0.0),
            "alpha": case(0.3)[0],
        }
    )


def carried_both_ways() -> Values:
    """The same with two columns and no costs."""
    return transport_bounds.solved(
        {
            "T": case([0.5, 0.0], [-0.5, 0.0]),
            "u": case(0.0, 0.0),
            "M": case([0.0, 0.0], [0.0, 0.0]),
            "lam": case(TINY, 0.0),
            "nu": case(0.0, 0.0),
            "alpha": case(0.3)[0],
            "gamma": case(-0.2)[0],
        }
    )


def halves() -> Values:
    """Two weightings near one half, of templates at distance D."""
    return {"p": case(0.5 + TINY, 0.5 - TINY), "w": case(0.5, 0.5), "T": case([1.0, 0.0], [-1.0, 0.0]), "D": case(2.0)[0]}


def keys() -> Values:
    """Two equal keys, and weights near one half."""
    return {"q": case(0.5 + TINY, 0.5 - TINY), "s": case(0.0, 0.0), "tau": case(1.5)[0]}


def changed() -> Values:
    """Two equal keys, one of which gains weight."""
    return {"p": case(0.5, 0.5), "g": case([1.0, 0.0], [0.0, 1.0]), "ω": case(TINY)[0]}


def swapped() -> Values:
    """Two weightings with disjoint supports."""
    return {
        "r": case(0.0, 1.0),
        "v": case(1.0, 0.0),
        "v'": case(0.0, 1.0),
        "x": case(1.0)[0],
        "y": case(2.0)[0],
        "D": case(3.0)[0],
        "e": case([0.0, 0.0], [0.0, 0.0]),
    }


def worst() -> Values:
    """The case of `beyond.stability-attained`."""
    return {
        "p": case(1 / 3, 2 / 3),
        "h": case([1.0, 0.0], [0.0, 1.0]),
        "g": case([1.0, 0.0], [0.0, 1.0]),
        "x": case(1.0)[0],
        "y": case(1.0)[0],
        "L": case(2.0)[0],
        "c": case(0.0)[0],
    }


def skewed() -> Values:
    """The law on the ends of an interval with the largest third central moment, and a tiny query."""
    return {
        "y": case([-1e8, 0.0], [1e8, 0.0]),
        "u": case((1 + 3**-0.5) / 2, (1 - 3**-0.5) / 2),
        "lam": case(TINY, 0.0),
        "D": case(1.0)[0],
    }


NEAR: dict[str, Callable[[], Values]] = {
    **dict.fromkeys(
        (
            "beyond.cocoercive",
            "beyond.cocoercive-prior",
            "beyond.cocoercive-pass",
            "beyond.pass-divergence",
            "beyond.relative-deviation",
            "beyond.query-bound",
            "beyond.output-bound",
            "beyond.weights-bound",
            "beyond.objective-bound",
            "beyond.contraction",
        ),
        opposite,
    ),
    **dict.fromkeys(
        (
            "beyond.ot-mean-smooth",
            "beyond.ot-cocoercive-prior",
            "beyond.ot-cocoercive-pass",
            "beyond.ot-pass-divergence",
            "beyond.ot-query-bound",
            "beyond.ot-output-bound",
            "beyond.ot-objective-bound",
        ),
        carried_both_ways,
    ),
    **dict.fromkeys(("beyond.jeffreys", "beyond.mean-smooth"), halves),
    "beyond.pinsker": keys,
    "beyond.hoeffding": changed,
    "beyond.carried": swapped,
    "beyond.stability": worst,
    "beyond.resolvent-error": skewed,
}
"""Instances that are near to equality, of what no ascent from random instances comes near enough to."""


def tightness(problem: Problem, values: Values) -> float:
    """right/left."""
    left, right = problem.sides(values)
    return float(right / left)


def test_every_inequality_is_searched_at_ten_thousand_instances() -> None:
    assert set(INEQUALITIES) == set(problems())
    assert search.INSTANCES // 3 * 3 >= 10_000


@pytest.mark.parametrize("claim", NEAR)
def test_sharp_bounds_are_attained(claim: str) -> None:
    assert 1 - ATTAINED <= tightness(problems()[claim], NEAR[claim]()) <= 1 + ATTAINED / 10


@pytest.mark.parametrize("claim", [id for id, problem in problems().items() if problem.sharp])
def test_the_search_attains_the_bounds_it_calls_sharp(claim: str) -> None:
    problem = problems()[claim]
    tightness = max(search.searched(problem, m, 1000, "cpu").tightness for m in problem.sizes)
    assert tightness >= 1 - ATTAINED


def test_the_other_bounds_are_not_called_sharp() -> None:
    """No text calls these bounds sharp, except that `beyond.jacobian-attained` has equality in `beyond.jacobian-form`."""
    others = {id for id, problem in problems().items() if not problem.sharp} - set(NEAR)
    assert others == {
        "beyond.shrinkage",
        "beyond.chi-square",
        "beyond.certificate",
        "beyond.spectral-gap",
        "beyond.iterates",
        "beyond.jacobian-form",
        "beyond.top-mass",
        "beyond.ratio-bias-bound",
    }


def test_a_bound_that_is_too_large_is_not_attained() -> None:
    problem, values = problems()["beyond.query-bound"], opposite()
    left, right = problem.sides(values)
    assert float(right / (1.00001 * left)) < 1 - ATTAINED
