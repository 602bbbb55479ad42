"""Thin and small results are computed in memory of their size."""

import subprocess
import sys

import pytest

GROWN = """
import resource, torch
from numerics import linear, priors
{warm}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{work}
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize(
    ("warm", "work", "most"),
    [
        # 8,000² bytes are 61 MB; positions as int64 would be eight times that.
        ("priors.causal_mask(4, 4)", "priors.causal_mask(8000, 8000)", 90),
        ("priors.causal_mask(4, 4)", "assert priors.causal_mask(1, 10_000_000).sum() == 1", 150),
        # A matrix of all pairs of keys is 549 MB, and three are needed.
        (
            "linear.ratio_bias(torch.ones(1, 3), torch.ones(4, 3), 2)",
            "linear.ratio_bias(torch.ones(1, 3), torch.randn(12_000, 3), 2)",
            300,
        ),
    ],
    ids=["causal mask", "one row of a causal mask", "ratio bias"],
)
def test_no_larger_array_is_made_on_the_way(warm: str, work: str, most: int) -> None:
    code = GROWN.format(warm=warm, work=work)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < most
