"""What models say: the attention of real and random ones, captured, and what was measured on trained ones.

The chapters register what is here, and every one of them is imported to find out what speaks for a claim.  So importing
these modules is light: what needs transformers is imported when a model is loaded or run, in the function that does it.
"""
