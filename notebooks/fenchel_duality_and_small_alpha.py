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
# # Fenchel duality and the small-α approximation
#
# Here is a second story about the same formula. You know a distribution u on some templates, and somebody tells you,
# noisily, that the mean you look for is z away from the mean of u. Which distribution should you believe in? One that
# fits the message, and stays close to u. Solve that to first order, and softmax attention appears, with z as the query.
#
# "To first order" is where the care is needed. How large is what was left out? We measure it, predict it, and bound it
# without knowing the solution.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from derivations.run.notebooks import show
from numerics import mem, tolerances
from numerics.experiments.approximation import FITTED, figure_problem, halvings, random_problem, study
from numerics.primal import mem as primal

problem = figure_problem()
t, u, z = problem.templates, problem.prior, problem.evidence
mu, alpha = u @ t, 2.0
solution = mem.solve(t, z, u, alpha, tolerance=1e-12)
closed = mem.closed_form(t, z, u, alpha)

# %% [markdown]
# ## The problem, in the plane

# %%
figure, axis = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
axis.scatter(*t.T, s=(900 * u).tolist(), color="tab:orange", alpha=0.5, label="templates (size: u)")
axis.scatter(*t.T, s=(900 * solution.weights).tolist(), facecolors="none", edgecolors="tab:red", label="the solution p*")
axis.annotate("", xy=tuple((mu + z).tolist()), xytext=tuple(mu.tolist()), arrowprops={"arrowstyle": "->"})
axis.plot(*mu, "k+", markersize=10, label="μ, mean of u (arrow: z)")
axis.plot(*solution.mean, "s", color="tab:red", label="ĥ, mean of p*")
axis.plot(*closed, "D", color="tab:purple", markersize=5, label="attention's estimate")
axis.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal", title=f"α = {alpha}")
axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# Three layers solve it: Newton's method on the dual, with a certificate; a conic solver on the primal, with its own; and
# the proof says that the two values must meet.

# %%
by_cone = primal.solve(t.numpy(), u.numpy(), z.numpy(), alpha)
apart = np.linalg.norm(by_cone.mean - solution.mean.numpy())
allowed = by_cone.mean_error + float(solution.mean_error)
print(f"conic ĥ − dual ĥ: {apart:.1e}, allowed by both certificates {allowed:.1e}")
assert by_cone.certified
assert apart <= allowed
show("deciphering.9")

# %% [markdown]
# ## The dual landscape
#
# The dual has as many unknowns as the templates have coordinates: two. Its hill is smooth and strictly concave. Attention
# does not climb it. It takes λ = αz, where the summit would be if log M were flat.

# %%
first = torch.linspace(-0.4, 2.2, 121, dtype=torch.float64)
second = torch.linspace(-0.8, 1.3, 121, dtype=torch.float64)
grid = torch.cartesian_prod(first, second)
heights = mem.dual_objective(grid, t, z, u, alpha).reshape(121, 121).T
climb = [alpha * z]
for _ in range(60):
    climb.append(climb[-1] + 0.1 * mem.dual_gradient(climb[-1], t, z, u, alpha))
figure, axis = plt.subplots(figsize=(6.5, 4.4), layout="constrained")
levels = float(heights.max()) - np.linspace(1, 0, 21) ** 2
filled = axis.contourf(first, second, heights, levels=levels, cmap="viridis", extend="min")
axis.contour(first, second, heights, levels=levels, colors="white", linewidths=0.3)
figure.colorbar(filled, label="D(λ)", format="%.2f")
axis.plot(*torch.stack(climb).T, "-", color="tab:purple", label="uphill from there")
axis.plot(*(alpha * z), "D", color="white", markeredgecolor="tab:purple", label="αz: attention")
axis.plot(0, 0, "o", color="black", label="λ = 0: the prior")
axis.plot(*solution.dual, "s", color="tab:red", markersize=9, label="λ*: the summit")
axis.plot(*mem.resolvent(t, z, u, alpha), "^", color="tab:orange", label="α(I + αΣ)⁻¹z: second order")
axis.set(xlabel="λ₁", ylabel="λ₂", title="the dual objective")
axis.legend(fontsize=8, loc="lower right")
plt.show()

# %% [markdown]
# Every point of the hill is a lower bound for every plan. The gap is no mystery: it is a divergence plus a square.

# %%
generator = torch.Generator().manual_seed(1)
plans = (2 * torch.randn(2000, 5, generator=generator, dtype=torch.float64)).softmax(-1)
duals = torch.randn(2000, 2, generator=generator, dtype=torch.float64)
gap = mem.primal_objective(plans, t, z, u, alpha) - mem.dual_objective(duals, t, z, u, alpha)
tilt = mem.tilt(duals, t, u)
explained = (plans * (plans / tilt).log()).sum(-1) + alpha / 2 * (mu + z - plans @ t - duals / alpha).square().sum(-1)
allowed = tolerances.rounding("float64", 32, float(gap.max() + mem.primal_objective(plans, t, z, u, alpha).max()))
torch.testing.assert_close(gap, explained, rtol=0.0, atol=allowed)
off = float((gap - explained).abs().max())
print(f"smallest gap of 2000 pairs {float(gap.min()):.3f}; gap − explanation at most {off:.1e}, allowed {allowed:.1e}")

# %% [markdown]
# ## How large is what was left out?
#
# The document prints an equality. A point in exact numbers refutes it, and the correction names the first term missing.

# %%
show("deciphering.18")

# %% [markdown]
# So the error should fall with α², and with a known constant ‖Σ²z‖. The second-order dual point, which attention does
# without, should be an order better.

# %%
alphas = halvings()
results = study(problem, alphas)
better = mem.tilt(mem.resolvent(t, z.expand(len(alphas), 2), u, alphas), t, u) @ t
errors = {"attention": results.errors, "with (I + αΣ)⁻¹": (better - results.exact).norm(dim=-1)}
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
orders = {}
for name, values in errors.items():
    resolved = values > 10 * results.bound  # elsewhere one sees the solver, not the formula
    x, y = alphas[resolved].log(), values[resolved].log()
    orders[name] = float((y[-2] - y[-1]) / (x[-2] - x[-1]))
    axis.loglog(alphas[resolved], values[resolved], "o-", markersize=4, label=f"{name}: order {orders[name]:.2f} at the end")
axis.loglog(alphas, results.constant * alphas**2, "k--", linewidth=1, label="predicted: ‖Σ²z‖ α²")
axis.set(xlabel="α", ylabel="distance to the exact estimate")
axis.legend()
plt.show()
print(f"slope over the last {FITTED} halvings: {results.slope:.4f}")
print(f"constant: predicted {results.constant:.6f}, measured {results.measured_constant:.6f}")
scaled = results.errors / alphas**2  # = ‖Σ²z‖ + O(α): a halving should halve what is missing
extrapolated, unsure = float(2 * scaled[-1] - scaled[-2]), float((results.bound / alphas**2)[-1])
print(f"the O(α) in it removed: {extrapolated:.8f}")
assert abs(extrapolated - results.constant) <= abs(extrapolated - results.measured_constant) + 3 * unsure

# %% [markdown]
# ## A certificate, without solving
#
# How far did attention's estimate move from μ? That distance, known at once, bounds the error: `deciphering.s6.one-pass-bound`
# proves the simplest such bound, and `numerics.mem.certificate` has a sharper one. Each dot is a random problem. None may
# be above the diagonal.

# %%
dots = []
for seed in range(80):
    case = random_problem(seed)
    strength = torch.logspace(-2, 1, 7, dtype=torch.float64)
    evidence = case.evidence.expand(7, 2)
    exact = mem.solve(case.templates, evidence, case.prior, strength, tolerance=1e-12)
    bound = mem.certificate(case.templates, evidence, case.prior, strength)
    error = (bound.mean - exact.weights @ case.templates).norm(dim=-1)
    unsure = exact.weights_error * case.templates.norm(dim=-1).max() + tolerances.rounding("float64", 8, 4.0)
    assert bool((error <= bound.mean_error + unsure).all())
    dots.append(torch.stack([bound.mean_error, error, strength], -1))
x, y, colour = torch.cat(dots).T
figure, axis = plt.subplots(figsize=(5.5, 4), layout="constrained")
points = axis.scatter(x, y, c=colour.log10(), s=7, cmap="viridis")
axis.plot([1e-5, 10], [1e-5, 10], "k-", linewidth=1)
axis.set(xscale="log", yscale="log", xlabel="certified bound", ylabel="true error", xlim=(1e-6, 10), ylim=(1e-6, 10))
figure.colorbar(points, label="log₁₀ α")
plt.show()
print(f"{len(x)} problems; the bound is {float((x / y).median()):.1f} times the error in the median")

# %% [markdown]
# ## Is a smaller α always better?
#
# Near zero, yes. But α is not a distance: `deciphering.s6.scale` says that longer templates are a larger α. And far from
# zero the error can grow while α falls. The print, read for all α, is refuted; here is the curve of such a problem.

# %%
curves = [(seed, study(random_problem(seed, 4.0), halvings(20.0, 12))) for seed in range(10)]
seed, worst = max(curves, key=lambda pair: float((pair[1].errors[1:] / pair[1].errors[:-1]).max()))
assert bool(worst.worse_steps.any())
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.semilogx(worst.alphas, worst.errors, "o-")
axis.set(xlabel="α", ylabel="error of attention's estimate", title=f"random problem {seed}: the error is not monotone")
plt.show()
show("deciphering.s6.smaller-alpha-better")

# %% [markdown]
# ## Try yourself
#
# - Put all templates on a line through μ orthogonal to z. What is ‖Σ²z‖, and what is the error?
# - Multiply `t` and `z` by 3 and divide α by 9. Which numbers of this notebook change?
# - Take `2 * alpha * z` as the dual point. Which cell finds out?
