"""Models of the document's ten listings: the same arithmetic in the same order, in our own words.

Each model does what its listing does, mistakes included: what is added to denominators, how many rounds run, which
arguments are never read, which shapes go through. `guard` and `rounds` are the listing's numbers unless a test
changes them.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

GUARD = 1e-8


def sinkhorn(source: Tensor, target: Tensor, cost: Tensor, epsilon: float, rounds: int = 10, guard: float = GUARD) -> Tensor:
    """Sinkhorn's iteration on exp(−C/ε) as it stands, v last; source (n,), target (m,), cost (n, m)."""
    left, right = scalings(source, target, cost, epsilon, rounds, guard)
    return left.reshape(-1, 1) * kernel(cost, epsilon) * right.reshape(1, -1)


def scalings(
    source: Tensor,
    target: Tensor,
    cost: Tensor,
    epsilon: float,
    rounds: int = 10,
    guard: float = GUARD,
    start: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """u and v after the rounds, from v = 1 unless another start is given."""
    gibbs, left = kernel(cost, epsilon), torch.ones_like(source)
    right = torch.ones_like(target) if start is None else start
    for _ in range(rounds):
        left = source / (gibbs.matmul(right) + guard)
        right = target / (gibbs.T.matmul(left) + guard)
    return left, right


def kernel(cost: Tensor, epsilon: float) -> Tensor:
    """exp(−C/ε)."""
    return torch.exp(-cost / epsilon)


def sinkhorn_divergence(p: Tensor, q: Tensor, cost: Tensor, epsilon: float = 0.1) -> Tensor:
    """Three sums of γ C, with one cost matrix for all three."""
    cross, first, second = ((sinkhorn(*pair, cost, epsilon) * cost).sum() for pair in ((p, q), (p, p), (q, q)))
    return cross - first / 2 - second / 2


def similarities(query: Tensor, key: Tensor) -> Tensor:
    """⟨q_i, k_j⟩/√d."""
    return query.matmul(key.transpose(-2, -1)) / math.sqrt(query.shape[-1])


class AttentionAsOT(nn.Module):
    """Multi-head attention with biases, weights softmax(S/ε)."""

    def __init__(self, d_model: int, n_heads: int, epsilon: float = 1.0) -> None:
        super().__init__()
        self.heads, self.width, self.epsilon = n_heads, d_model // n_heads, epsilon
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        """(B, N, D) → (B, heads, N, ⌊D/heads⌋), which stops unless the heads divide D."""
        return x.view(x.shape[0], x.shape[1], self.heads, self.width).transpose(1, 2)

    def joined(self, weights: Tensor, values: Tensor, width: int) -> Tensor:
        """Heads side by side, then projected."""
        out = weights.matmul(values).transpose(1, 2).contiguous()
        projected: Tensor = self.output(out.view(out.shape[0], out.shape[1], width))
        return projected

    def weights(self, query: Tensor, key: Tensor) -> Tensor:
        """softmax(S/ε) of split queries and keys."""
        return torch.softmax(similarities(query, key) / self.epsilon, -1)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (self.split(part(x)) for part in (self.query, self.key, self.value))
        return self.joined(self.weights(query, key), value, x.shape[-1])


def start_of_keys(query: Tensor) -> Tensor:
    """b as `sinkhorn_attention` makes it: its length is the number of queries, its dtype the default one."""
    return torch.ones(query.shape[:2], device=query.device) / query.shape[1]


def sinkhorn_attention_plan(
    query: Tensor, key: Tensor, epsilon: float = 0.1, rounds: int = 10, guard: float = GUARD, start: Tensor | None = None
) -> Tensor:
    """γ of `sinkhorn_attention` for (B, N, d): unit numerators, b ← b ∘ v; its a enters nothing."""
    gibbs = torch.exp(similarities(query, key) / epsilon)
    b = start_of_keys(query) if start is None else start
    for _ in range(rounds):
        left = 1 / (gibbs.matmul(b.unsqueeze(-1)).squeeze(-1) + guard)
        right = 1 / (gibbs.transpose(-2, -1).matmul(left.unsqueeze(-1)).squeeze(-1) + guard)
        b = b * right
    return left.unsqueeze(-1) * gibbs * right.unsqueeze(-2)


def sinkhorn_attention(query: Tensor, key: Tensor, value: Tensor, epsilon: float = 0.1, rounds: int = 10) -> Tensor:
    """γ V."""
    return sinkhorn_attention_plan(query, key, epsilon, rounds).matmul(value)


def attention_divergence(query: Tensor, key: Tensor, epsilon: float = 0.1) -> Tensor:
    """`compute_attention_ot_divergence`: marginals for a batch go to a function that takes one problem."""
    return sinkhorn_divergence(start_of_keys(query), start_of_keys(key), -similarities(query, key), epsilon)


def relu_features(x: Tensor, projection: Tensor) -> Tensor:
    """max(W x, 0)."""
    return torch.relu(x.matmul(projection.mT))


def linear_attention(query: Tensor, key: Tensor, value: Tensor, guard: float = GUARD) -> Tensor:
    """The core of `LinearAttentionAsOT`: features (B, n, F), (B, m, F), values (B, m, e); keys meet values first."""
    gathered = torch.einsum("bnd,bnv->bdv", key, value)
    total = torch.einsum("bmd,bd->bm", query, key.sum(1))
    return torch.einsum("bmd,bdv->bmv", query, gathered) / (total.unsqueeze(-1) + guard)


@dataclass(frozen=True)
class Report:
    """The report of `analyze_attention_temperature` for one temperature."""

    epsilon: float
    entropy: float
    max_attention: float
    effective_size: float


def row_entropies(weights: Tensor, guard: float = GUARD) -> Tensor:
    """−Σ A log(A + 1e-8) along the last axis."""
    return -(weights * torch.log(weights + guard)).sum(-1)


def analyze(
    query: Tensor, key: Tensor, value: Tensor, temperatures: tuple[float, ...] = (0.01, 0.1, 0.5, 1.0, 2.0)
) -> list[Report]:
    """One report for each temperature; the values are never read, and the mean comes before the exponential."""
    reports = []
    for epsilon in temperatures:
        weights = torch.softmax(similarities(query, key) / epsilon, -1)
        entropy = row_entropies(weights).mean()
        reports.append(Report(epsilon, entropy.item(), weights.amax(-1).mean().item(), entropy.exp().mean().item()))
    return reports


def resharpened(weights: Tensor, epsilon: Tensor | float, rounds: int = 3, guard: float = GUARD) -> Tensor:
    """`_sinkhorn_iteration`: rows over sums, columns over sums, then a softmax of the weights themselves."""
    for _ in range(rounds):
        weights = weights / (weights.sum(-1, keepdim=True) + guard)
        weights = weights / (weights.sum(-2, keepdim=True) + guard)
        weights = torch.softmax(weights / epsilon, -1)
    return weights


class OptimalTransportAttention(nn.Module):
    """Attention at a learned temperature; `epsilon` and `mask` are never read, `sinkhorn_iters` only as a switch."""

    def __init__(self, d_model: int, n_heads: int, epsilon: float = 0.1, sinkhorn_iters: int = 3) -> None:
        super().__init__()
        self.heads, self.width, self.epsilon, self.iterations = n_heads, d_model // n_heads, epsilon, sinkhorn_iters
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))
        self.log_epsilon = nn.Parameter(torch.zeros(n_heads))

    @property
    def temperature(self) -> Tensor:
        """softplus of the parameter, one for each head."""
        return nn.functional.softplus(self.log_epsilon).view(1, self.heads, 1, 1)

    def iterate(self, weights: Tensor) -> Tensor:
        """As many rounds as the loop has by default."""
        return resharpened(weights, self.temperature)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Output and the weights of each head."""
        q, k, v = (
            part(x).view(*x.shape[:2], self.heads, self.width).transpose(1, 2)
            for part, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        weights = torch.softmax(similarities(q, k) / self.temperature, -1)
        if self.iterations > 0:
            weights = self.iterate(weights)
        out = weights.matmul(v).transpose(1, 2).contiguous().view(query.shape)
        return self.output(out), weights


class OTAttentionExperiment(nn.Module):
    """Both kinds of attention on the same tokens; the standard one averages its heads' weights."""

    def __init__(self, d_model: int, n_heads: int = 8) -> None:
        super().__init__()
        self.standard = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.transport = OptimalTransportAttention(d_model, n_heads, epsilon=0.1)

    def compare(self, x: Tensor) -> tuple[Tensor, Tensor, float, float]:
        """Both outputs, and both entropies as they are printed."""
        standard, averaged = self.standard(x, x, x, need_weights=True)
        transport, per_head = self.transport(x, x, x)
        return standard, transport, row_entropies(averaged).mean().item(), row_entropies(per_head).mean().item()


def share_projections(standard: nn.MultiheadAttention, transport: OptimalTransportAttention) -> None:
    """Give the second module the projections and biases of the first, which no listing does."""
    parts = transport.query, transport.key, transport.value
    with torch.no_grad():
        for part, weight, bias in zip(parts, standard.in_proj_weight.chunk(3), standard.in_proj_bias.chunk(3), strict=True):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        transport.output.load_state_dict(standard.out_proj.state_dict())


@dataclass(frozen=True)
class Printed:
    """The output of `run_ot_attention_experiment`."""

    standard_entropy: float
    transport_entropy: float
    shape: tuple[int, ...]
    close: bool


def run_experiment(seed: int = 42, batch: int = 4, length: int = 32, d_model: int = 128) -> Printed:
    """Random tokens through two modules with random weights, and no task."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        x = torch.randn(batch, length, d_model)
        standard, transport, first, second = OTAttentionExperiment(d_model).compare(x)
    return Printed(first, second, tuple(standard.shape), torch.allclose(standard, transport, atol=1e-5))
