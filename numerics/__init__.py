"""Closed forms and solvers of attention as optimization: batched, differentiable, in PyTorch; solvers return certificates.

Weights of one row   `one_sided` (softmax as an optimal plan), `regularizers` (sparsemax, α-entmax), `sparse_maps`, `priors`
Their geometry       `fisher` (Fisher matrix, natural gradient), `fenchel_young` (losses)
Whole layers         `attention`, `flash` (tiled), `linear`, `ot_attention`, `continuous`
Exact solutions      `mem` (maximum entropy on the mean), `transport` (entropic plans), `linear_program`; `primal` (cvxpy)
In models            `modules` (drop-ins for PyTorch and Hugging Face), `models` (capture)
Studies              `experiments`, `benchmarks`, `precision`; `python -m numerics` lists their commands

Every name is imported from its module: `from numerics import mem, one_sided`.  See `docs/conventions.md` for signs, shapes,
masks and dtypes.
"""
