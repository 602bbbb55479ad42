"""The concentration of a model's attention as a function of the temperature.

Claims      transport.listing.analyze_attention_temperature, transport.listing.analyze_attention_temperature.slope
"""
