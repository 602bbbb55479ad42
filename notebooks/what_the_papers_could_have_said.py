# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What the papers could have said
#
# The documents prove that softmax attention solves an optimization problem, and that it solves another one approximately
# for small α. They say little about *how far* from the solution one is. These are ten answers, each an identity or a bound
# with its best constant, and each with a picture in which it could fail. All are claims of the chapter `beyond`.

# %%
import matplotlib.pyplot as plt
import torch

from derivations.run.notebooks import show
from numerics import mem, one_sided, tolerances

generator = torch.Generator().manual_seed(0)
SLACK = tolerances.rounding("float64", 1000)  # of numbers of the size of 1


def normal(*shape):
    """Standard normal numbers, always the same."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def kl(q, p):
    """KL(q ‖ p) of rows with positive entries."""
    return (q * (q / p).log()).sum(-1)


def picture(x, y, bound, **labels):
    """Points beside the bound that they may not cross."""
    _, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    axis.plot(x, y, ".", markersize=3, label="random problems")
    axis.plot(*bound, color="tab:red", label="the bound")
    axis.set(**labels)
    axis.legend()
    plt.show()


# %% [markdown]
# ## 1. What other weights lose, exactly
#
# Any weights q lose τ KL(q ‖ p) against attention: existence, uniqueness and the least value in one line.

# %%
show("beyond.gibbs")

# %%
tau, rows, m = 0.7, 2000, 6
s = normal(rows, m)
p, q = one_sided.plan(s, tau), torch.softmax(2 * normal(rows, 1) * normal(rows, m), -1)


def objective(weights):
    """⟨p, −s⟩ − τ H(p)."""
    return -(weights * s).sum(-1) + tau * (weights * weights.log()).sum(-1)


loss = objective(q) - objective(p)
picture(tau * kl(q, p), loss, ((0, float(loss.max())),) * 2, xlabel="τ KL(q ‖ p)", ylabel="J(q) − V")
gap = (loss - tau * kl(q, p)).abs().max()
assert gap <= 100 * SLACK
print(f"the two sides differ by {gap:.1e}")

# %% [markdown]
# ## 2. Weights that are nearly optimal are near attention
#
# The loss is at least (τ/2)‖q − p‖₁², and no larger constant will do.

# %%
show("beyond.pinsker")

# %%
distance = (q - p).abs().sum(-1)
grid = torch.linspace(0, 2, 100)
picture(distance, loss, (grid, tau / 2 * grid**2), xlabel="‖q − p‖₁", ylabel="J(q) − V", ylim=(0, 3))
assert bool((loss >= tau / 2 * distance**2 - SLACK).all())
print(f"smallest ratio of loss and bound: {float((loss / (tau / 2 * distance**2)).min()):.4f}")

# %% [markdown]
# ## 3. A certificate that does not know the solution
#
# From q alone: with r = s − τ log q the loss is at most Σ_j q_j (max_l r_l − r_j).

# %%
show("beyond.certificate")

# %%
r = s - tau * q.log()
certified = (q * (r.amax(-1, keepdim=True) - r)).sum(-1)
picture(certified, loss, ((0, 10),) * 2, xlabel="certificate", ylabel="J(q) − V", xlim=(0, 10), ylim=(0, 10))
assert bool((loss <= certified + SLACK).all())
print(f"median of certificate / loss: {float((certified / loss).median()):.2f}")

# %% [markdown]
# ## 4. The Jacobian of softmax is at most 1/(2τ) long

# %%
show("beyond.jacobian-spectral")

# %%
jacobian = (p.diag_embed() - p.unsqueeze(-1) * p.unsqueeze(-2)) / tau
largest = torch.linalg.eigvalsh(jacobian)[:, -1]
picture(p.amax(-1), largest, ((0, 1), (1 / (2 * tau),) * 2), xlabel="largest weight", ylabel="largest eigenvalue of J")
assert float(largest.max()) <= 1 / (2 * tau) + SLACK
print(f"largest seen: {float(largest.max()) * 2 * tau:.3f} of the bound; two tied keys attain it")

# %% [markdown]
# ## 5. However much the scores change
#
# A change of scores that oscillates by ω moves the weights by at most tanh(ω/(4τ)) in total variation, for any number of
# keys; the derivative would only say ω/(4τ), which is above 1 soon.

# %%
show("beyond.stability")

# %%
change = 3 * torch.rand(rows, 1, generator=generator, dtype=torch.float64) * normal(rows, m)
oscillation = change.amax(-1) - change.amin(-1)
variation = (one_sided.plan(s + change, tau) - p).abs().sum(-1) / 2
grid = torch.linspace(0, 16, 200)
picture(oscillation, variation, (grid, torch.tanh(grid / (4 * tau))), xlabel="oscillation ω", ylabel="total variation")
assert bool((variation <= torch.tanh(oscillation / (4 * tau)) + SLACK).all())
print(f"closest to the bound: {float((variation / torch.tanh(oscillation / (4 * tau))).max()):.3f}")

# %% [markdown]
# ## 6. What the temperature does
#
# dH/dτ = Var_p(s)/τ³: warmer attention is always more spread out, unless all scores are equal.

# %%
show("beyond.entropy-slope")

# %%
temperatures = torch.linspace(0.2, 4, 400, dtype=torch.float64).requires_grad_()
weights = one_sided.plan(s[0].expand(400, m), temperatures)
entropy = -(weights * weights.log()).sum(-1)
(slope,) = torch.autograd.grad(entropy.sum(), temperatures)
warm, plan = temperatures.detach(), weights.detach()
variance = (plan * s[0] ** 2).sum(-1) - (plan * s[0]).sum(-1) ** 2
formula = variance / warm**3
figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
axis.plot(warm, entropy.detach(), label="H(p)")
axis.plot(warm, slope, linewidth=4, alpha=0.4, label="dH/dτ by autograd")
axis.plot(warm, formula, "k--", linewidth=1, label="Var_p(s)/τ³")
axis.set(xlabel="temperature τ")
axis.legend()
plt.show()
assert float((slope - formula).abs().max()) <= 100 * SLACK
print(f"autograd − formula: {float((slope - formula).abs().max()):.1e}")

# %% [markdown]
# ## 7. How fast attention gets hard
#
# With k keys tied at the top, n others, and a gap Δ below it, the mass off the top is at most n e^{−Δ/τ}/(k + n e^{−Δ/τ}).

# %%
show("beyond.cold-mass")

# %%
scores = torch.tensor([1.0, 1.0, 0.6, 0.3, -0.5], dtype=torch.float64)
cold = torch.linspace(0.03, 1, 200, dtype=torch.float64)
lost_mass = one_sided.plan(scores.expand(200, 5), cold)[:, 2:].sum(-1)
others = 3 * torch.exp(-0.4 / cold)
figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
axis.semilogy(1 / cold, lost_mass, label="mass off the two tied keys")
axis.semilogy(1 / cold, others / (2 + others), color="tab:red", label="the bound")
axis.set(xlabel="1/τ")
axis.legend()
plt.show()
assert bool((lost_mass <= others / (2 + others) + SLACK).all())
print(f"at τ = {cold[0]:.2f}: {lost_mass[0]:.1e} of at most {others[0] / (2 + others[0]):.1e}")

# %% [markdown]
# ## 8. What a natural gradient step gains
#
# The step p′ ∝ p e^{ηu} of any length η raises the mean utility by (KL(p′ ‖ p) + KL(p ‖ p′))/η, so never lowers it.

# %%
show("beyond.natural-gain")

# %%
u = normal(m)
lengths = torch.linspace(0.05, 6, 200, dtype=torch.float64)
stepped = torch.softmax(p[0].log() + lengths.unsqueeze(-1) * u, -1)
gain = stepped @ u - p[0] @ u
both = (kl(stepped, p[0]) + kl(p[0].expand(200, m), stepped)) / lengths
figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
axis.plot(lengths, gain, linewidth=4, alpha=0.4, label="gain of the step")
axis.plot(lengths, both, "k--", linewidth=1, label="(KL + KL)/η")
axis.set(xlabel="length η of the step")
axis.legend()
plt.show()
assert float((gain - both).abs().max()) <= 100 * SLACK
print(f"gain − formula: {float((gain - both).abs().max()):.1e}")

# %% [markdown]
# ## 9. How far one pass of attention is from the exact answer
#
# One pass takes the query αz, the exact solution of problem (4) has λ*. With q = αD²/4, D the diameter of the templates,
# the relative error is at most q/(1 + q): no "small α" needed.

# %%
show("beyond.query-bound")

# %%
count, n, d, alpha = 1500, 8, 3, 0.5
templates = normal(count, n, d) * torch.rand(count, 1, 1, generator=generator, dtype=torch.float64) * 2
z = normal(count, d)
solution = mem.solve(templates, z, alpha=alpha)
exact = solution.dual
diameter = torch.cdist(templates, templates).amax((-1, -2))
strength = alpha * diameter**2 / 4
error = (alpha * z - exact).norm(dim=-1) / (alpha * z).norm(dim=-1)
grid = torch.linspace(0, float(strength.max()), 200)
picture(strength, error, (grid, grid / (1 + grid)), xlabel="q = αD²/4", ylabel="‖αz − λ*‖ / ‖αz‖")
assert bool((error <= strength / (1 + strength) + solution.error / (alpha * z).norm(dim=-1)).all())
print(f"closest to the bound: {float((error / (strength / (1 + strength))).max()):.3f}")

# %% [markdown]
# ## 10. Exact attention as a stack of ordinary ones
#
# Feeding the output back, λ ↦ α(z + μ − h(λ)), takes at least a factor q off the error with every pass.

# %%
show("beyond.contraction")

# %%
keep = strength < 0.9
t, goal, evidence, factor = templates[keep], exact[keep], z[keep], strength[keep]
centre, query, errors = t.mean(-2), alpha * evidence, []
for _ in range(8):
    errors.append((query - goal).norm(dim=-1))
    mean = (mem.tilt(query, t).unsqueeze(-1) * t).sum(-2)
    query = alpha * (evidence + centre - mean)
errors = torch.stack(errors)
chosen = factor.argsort()[:: max(1, len(factor) // 6)]
figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
for row in chosen.tolist():
    (line,) = axis.semilogy(errors[:, row], "o-", markersize=3, label=f"q = {float(factor[row]):.2f}")
    axis.semilogy(float(errors[0, row]) * float(factor[row]) ** torch.arange(8.0), "--", color=line.get_color(), linewidth=1)
axis.set(xlabel="further passes", ylabel="‖λ − λ*‖ and its bound", ylim=(1e-9, 3))
axis.legend(fontsize=7)
plt.show()
allowed = factor * errors[:-1] + 2 * solution.error[keep]
assert bool((errors[1:] <= allowed).all())
print(f"largest part of the bound used: {float((errors[1:] / allowed).max()):.3f}")

# %% [markdown]
# ## What is new
#
# Most of this is known under other names. 1 is Gibbs' variational principle, 2 Pinsker's inequality, 6 statistical
# mechanics, 8 the analysis of multiplicative weights. We searched public pages and abstracts in November 2026, with
# this result:
#
# - **4**: for equal norms on both sides Nair proves the constant ("Softmax is 1/2-Lipschitz", arXiv 2510.23012, 2025).
#   We found no statement for *all pairs* of norms (`beyond.jacobian-form`, `beyond.jacobian-attained`).
# - **5**: ω/τ is Hilbert's projective distance of the weights, and Cohen and Fausti bound total variation sharply by it
#   (arXiv 2309.02413, 2023). So 5 is a reading of theirs, not a new bound.
# - **9, 10** and the split of the evidence (`beyond.evidence-split`): Baillon and Haddad's theorem is behind them, for
#   which `beyond.cocoercive` has a proof of its own, and maximum entropy on the mean has a literature (Vaisbourd et al.,
#   Mathematical Programming, 2024). We did not find the bound q/(1 + q) for one pass of attention, the passes as a
#   contraction, or the split.
# - The bias of linear attention by random features (`beyond.ratio-bias`): we found variances of the kernel estimates,
#   and no bias of their quotient for attention.
#
# A search that finds nothing proves nothing: who knows an earlier source, please tell us.

# %% [markdown]
# ## Try yourself
#
# - Two templates ±1 and small z: how close does the error come to q/(1 + q)? (`beyond.output-attained`)
# - Take q > 1 in the last cell: which problems still converge?
# - `show("beyond.certificate")`: for which q is the certificate exact?
