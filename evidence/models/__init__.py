"""Evidence from models: captured attention of pretrained and random models, and measurements on trained ones.

The chapters register what is here, and every one of them is imported to find the evidence for a claim.  So importing
these modules is light: code that needs transformers is imported in the functions that load or run a model.
"""
