"""Evidence from models: captured attention of pretrained and random models, and measurements on trained ones.

The chapters register what is here, and every one of them is imported to find out what speaks for a claim.  So importing
these modules is light: what needs transformers is imported when a model is loaded or run, in the function that does it.
"""
