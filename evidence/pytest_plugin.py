"""The pytest plugin of the numeric layers: Hypothesis profiles, and an early check that device and model are available.

PYTEST_DONT_REWRITE: there is no assertion here, and it is imported before pytest is.
"""

import tempfile
from pathlib import Path

import pytest
import torch
from hypothesis import configuration, settings

from derivations.ledger.incremental import profile
from evidence.registry import Run

configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir(), "attention-proofs-hypothesis"))
settings.register_profile("gate", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(profile())


def pytest_configure(config: pytest.Config) -> None:
    """Check that the requested device and model are available; raises pytest.UsageError before any test runs."""
    if hasattr(config, "workerinput"):
        return
    if config.option.device == "cuda" and not torch.cuda.is_available():
        raise pytest.UsageError("--device: expected cpu where no CUDA device is available, got cuda")
    if config.option.model:
        from numerics.models.encoder import ModelUnavailableError, load_model

        try:
            load_model(config.option.model)
        except ModelUnavailableError as error:
            raise pytest.UsageError(f"--model: {error}") from None


@pytest.fixture(scope="session")
def run(request: pytest.FixtureRequest) -> Run:
    """Return the options of the run."""
    options = request.config.option
    return Run(options.quick, options.device, options.model)
