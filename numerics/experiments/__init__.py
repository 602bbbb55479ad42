"""The documents' figures and tables, made again."""
