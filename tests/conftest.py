"""Shared set-up: one thread a process, Hypothesis profiles."""

import os

import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("gate", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))
