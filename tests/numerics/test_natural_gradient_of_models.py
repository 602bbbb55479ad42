"""The natural gradient of captured attention, compared with the gradient from autograd."""

import pytest
import torch

from evidence.models.captured import ARCHITECTURES, cubic
from numerics import fisher, one_sided, tolerances
from numerics.models.capture import capture
from numerics.models.zoo import zoo


@pytest.mark.parametrize("architecture", [name for name in ARCHITECTURES if name != "vit"])
def test_natural_gradient_of_random_models(architecture: str) -> None:
    """−F⁺ applied to autograd's gradient is τ(u − ū), in float64, where every visible weight can be inverted."""
    example = zoo()[architecture]()
    for problem in capture(
        example.model.double(), {k: v.double() if v.is_floating_point() else v for k, v in example.inputs.items()}, cubic
    ):
        assert problem.score_gradient is not None
        assert problem.output_gradient is not None
        plan, tau = problem.probabilities, problem.temperature
        utility = one_sided.utility(problem.output_gradient, problem.values)
        step = -fisher.natural_gradient(plan, problem.score_gradient, tau)
        expected = fisher.natural_direction(plan, utility, tau)
        smallest = plan[plan > 0].min()
        unit = tolerances.score_gradient(plan.dtype, plan.shape[-1], float(utility.abs().max()), tau)
        softmax_dtype = torch.float32 if architecture in ("bloom", "llama") else plan.dtype  # these softmax in float32
        assert float((step - expected).abs().max()) <= unit * tau**2 / float(smallest) * (
            tolerances.eps(softmax_dtype) / tolerances.eps(plan.dtype)
        )
