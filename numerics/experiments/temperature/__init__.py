"""How concentrated a model's attention is, and how that answers to the temperature.

Claims      transport.listing.analyze_attention_temperature, transport.listing.analyze_attention_temperature.slope
"""
