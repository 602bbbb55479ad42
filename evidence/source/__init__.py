"""What published and shipped source code says: the modules of transformers, PyTorch and entmax beside the documents.

What chapters register is in `alibi`, `dot_product`, `transformations`, `heads`, `t5_parts` and `networks`.  A package that
takes seconds to import is imported there by the functions that run it, so that registering a vote costs nothing.
"""
