"""What libraries load at their first use, loaded by the process that tests are forked from. None of it starts a thread."""

import numba
import pyarrow.dataset  # noqa: F401  # `parquet.read_table` imports it
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

numba.njit(lambda x: x + 1)(1)
get_checkpoint_conversion_mapping("gpt2")
