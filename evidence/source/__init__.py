"""Evidence from source code: the documents' statements compared with the code of transformers, PyTorch and entmax.

What chapters register is in `alibi`, `dot_product`, `transformations`, `heads`, `t5_parts` and `networks`.  A package that
takes seconds to import is imported there by the functions that run it, so that registering a vote costs nothing.
"""
