"""Shared set-up: one thread a process, Hypothesis profiles, and early words on what is missing."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")                # before torch is imported, here or in a worker

from pathlib import Path

import pytest
from hypothesis import configuration, settings

configuration.set_hypothesis_home_dir(Path(__file__).parent.parent / ".hypothesis")
settings.register_profile("gate", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a device or a model that is not there, before anything runs."""
    if hasattr(config, "workerinput"):
        return
    if config.option.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise pytest.UsageError("--device: cuda was given but no CUDA device is available, cpu is accepted")
    if config.option.model:
        from numerics.models.encoder import ModelUnavailableError, load_model

        try:
            load_model(config.option.model)
        except ModelUnavailableError as error:
            raise pytest.UsageError(f"--model: {error}") from None
