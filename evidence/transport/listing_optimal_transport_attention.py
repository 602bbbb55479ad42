"""Votes on: The listing `OptimalTransportAttention`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.transport import listings as models
from evidence.transport.listing import ANY, PAIRS, SEVERAL, Tokens
from numerics import one_sided, tolerances, transport


def all_odds(plan: Tensor) -> Tensor:
    """A_ij A_kl/(A_il A_kj) with the axes i, j, k, l."""
    ratio = plan[:, :, None] / plan[:, None, :]  # A_ij/A_il, with the axes i, j, l
    return torch.einsum("ijl,kjl->ijkl", ratio, 1 / ratio)


def divided(x: Tokens) -> Reading:
    rows = x["A"] / x["A"].sum(-1, keepdim=True)
    columns = rows / rows.sum(-2, keepdim=True)
    again = columns / columns.sum(-1, keepdim=True)
    return x.reading(x.point("A"), 1e3, repaired=all_odds(again))


@confirms(Layer.TORCH, "transport.listing.OptimalTransportAttention", on=PAIRS, count=12, corrected=divided)
def softened(x: Tokens) -> Reading:
    return x.reading(
        x.point("A"),
        listing=all_odds(models.resharpened(x["A"], x.epsilon, rounds=1)),
        three=all_odds(models.resharpened(x["A"], x.epsilon)),
    )


def repaired_start(x: Tokens) -> Reading:
    parameter = float64(x.epsilon).expm1().log()
    return x.reading(x.point(), repaired=torch.nn.functional.softplus(parameter))


@confirms(Layer.TORCH, "transport.listing.OptimalTransportAttention.epsilon", on=ANY, corrected=repaired_start)
def start_at_log_two(x: Tokens) -> Reading:
    module = models.OptimalTransportAttention(2, 1, epsilon=x.epsilon)
    return Reading(
        x.point(y=0.0), {"listing": module.temperature.detach().double().flatten()[0]}, tolerances.rounding("float32", 1)
    )


@confirms(Layer.TORCH, "transport.listing.OptimalTransportAttention.temperature", on=ANY)
def temperature(x: Tokens) -> Reading:
    module = models.OptimalTransportAttention(2, 1).double()
    with torch.no_grad():
        module.log_epsilon.fill_(float(x["t"]))
    return x.reading(x.point(y=float(x["t"])), listing=module.temperature.flatten()[0])


def uniform(x: Tokens) -> Reading:
    weights = models.resharpened(x["row"], x.epsilon, guard=0.0)[0]
    return x.reading(x.point(A=x["row"]), model=weights)


@confirms(Layer.TORCH, "transport.listing.OptimalTransportAttention.single-query", on=SEVERAL, corrected=uniform)
def single_query(x: Tokens) -> Reading:
    weights = torch.softmax(float64([[1.0] + [0.0] * (x.m - 1)]), -1)
    return x.reading(x.point(A=weights), listing=models.resharpened(weights, x.epsilon)[0])


@confirms(Layer.TORCH, "transport.listing.OptimalTransportAttention.rows", on=ANY)
def rows_at_the_end(x: Tokens) -> Reading:
    return x.reading(
        x.point("A"), listing=models.resharpened(x["A"], x.epsilon).sum(-1), none=torch.softmax(x["S"] / x.epsilon, -1).sum(-1)
    )


class Repaired(models.OptimalTransportAttention):
    """The module with its number of iterations passed on."""

    def iterate(self, weights: Tensor) -> Tensor:
        """As many rounds as requested."""
        return models.resharpened(weights, self.temperature, rounds=self.iterations)


class Softmaxes(TorchFunctionMode):
    """Counts the softmaxes that run: one for the scores, one for each iteration."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.count += func is torch.softmax
        return func(*args, **(kwargs or {}))


def attended(x: Tokens, module: models.OptimalTransportAttention, mask: Tensor | None = None) -> tuple[Tensor, int]:
    """The weights of a module of one head, not projected, for queries S and unit vectors as keys; how many softmaxes ran."""
    eye, scores = torch.eye(x.m, dtype=torch.float64, device=x.device), x["S"]
    module = module.to(eye)
    with torch.no_grad():
        for part in (module.query, module.key, module.value, module.output):
            part.weight.copy_(eye)
            part.bias.zero_()
    with Softmaxes() as softmaxes:
        weights = module(scores[None], eye[None], eye[None], mask)[1].detach()[0, 0]
    return weights, softmaxes.count


def counted(x: Tokens, kind: type[models.OptimalTransportAttention]) -> Reading:
    """The iterations that run when some number of them is requested."""
    iterations = 1 + x.seed % 5
    _, softmaxes = attended(x, kind(x.m, 1, sinkhorn_iters=iterations))
    return Reading({"T": iterations}, {"run": float64(softmaxes - 1)}, tolerances.rounding("float64", 1))


@confirms(
    Layer.TORCH, "transport.listing.OptimalTransportAttention.iterations", on=ANY, corrected=lambda x: counted(x, Repaired)
)
def iterations_that_run(x: Tokens) -> Reading:
    return counted(x, models.OptimalTransportAttention)


def hidden_keys(x: Tokens) -> Tensor:
    """For each key h, the keys left when it is masked."""
    return ~torch.eye(x.m, dtype=torch.bool, device=x.device)


def masked_softmax(x: Tokens) -> Reading:
    visible = hidden_keys(x)[:, None, :].expand(x.m, x.n, x.m)
    scores = x["S"].expand(x.m, x.n, x.m)
    inside = torch.softmax(torch.where(visible, scores, -torch.inf) / x.epsilon, -1)
    return x.reading(x.point("S"), 10, repaired=inside, closed_form=one_sided.plan(scores, x.epsilon, mask=visible))


@confirms(Layer.TORCH, "transport.listing.OptimalTransportAttention.mask", on=SEVERAL, corrected=masked_softmax)
def masked_weights(x: Tokens) -> Reading:
    """A_ih where the module is given a mask that hides h."""
    module = models.OptimalTransportAttention(x.m, 1)
    columns = [attended(x, module, mask.expand(x.n, x.m))[0][:, key] for key, mask in enumerate(hidden_keys(x))]
    return x.reading(x.point("S"), listing=torch.stack(columns))


def log_odds(plan: Tensor, epsilon: float) -> Tensor:
    """ε log(A_ij/A_il)."""
    return epsilon * (plan[:, :, None] / plan[:, None, :]).log()


def share_in_a_further_iteration(x: Tokens) -> Reading:
    """The largest share of a column that a second iteration hands to its softmax, beside the ratios that the first left."""
    first = models.resharpened(torch.softmax(x["S"] / x.epsilon, -1), x.epsilon, rounds=1)
    ratio = float((first.amax(-1) / first.amin(-1)).max())
    shares = first / (first.sum(-2, keepdim=True) + models.GUARD)
    row, column = divmod(int(shares.argmax()), x.m)
    others = torch.cat((first[:row, column], first[row + 1 :, column]))
    point: dict[str, Value] = {
        "ρ": ratio,
        "others": x.n - 1,
        "m": x.m,
        "a": first[row, column].cpu(),
        "s": (others - 1 / (ratio * x.m)).cpu(),
    }
    return Reading(point, {"listing": shares.max()}, 10 * models.GUARD, "right")


@confirms(Layer.TORCH, "transport.listing.OptimalTransportAttention.forgets", on=PAIRS, corrected=share_in_a_further_iteration)
def odds_after_iterations(x: Tokens) -> Reading:
    plan = models.resharpened(torch.softmax(x["S"] / x.epsilon, -1), x.epsilon)
    return x.reading(x.point("S"), listing=log_odds(plan, x.epsilon))


def unit_columns(x: Tokens) -> Reading:
    rows = x["A"] / x["A"].sum(-1, keepdim=True)
    return x.reading(x.point("A"), 10, model=(rows / rows.sum(-2, keepdim=True)).sum(-2))


@confirms(
    Layer.TORCH, "transport.listing.OptimalTransportAttention.doubly-stochastic", on=PAIRS, count=12, corrected=unit_columns
)
def columns_after_an_iteration(x: Tokens) -> Reading:
    """Weights that are doubly stochastic, by the solver, after one iteration."""
    weights = x.n * transport.sinkhorn(-x["O"], temperature=x.epsilon).plan
    return x.reading(x.point(A=weights), 1e3, listing=models.resharpened(weights, x.epsilon, rounds=1).sum(-2))


def slope_of_scores(x: Tokens) -> Reading:
    """∂S_ij/∂q_ir by autograd, (i, j, r)."""
    query = x["Q"].clone().requires_grad_()
    scores = models.similarities(query, x["K"])
    slopes = [[torch.autograd.grad(scores[i, j], query, retain_graph=True)[0][i] for j in range(x.m)] for i in range(x.n)]
    return x.reading(x.point("Q", "K"), autograd=torch.stack([torch.stack(row) for row in slopes]))


VOTES = [
    Sampled("transport.listing.OptimalTransportAttention.cost", Layer.TORCH, slope_of_scores, on=ANY, corrected=slope_of_scores)
]
