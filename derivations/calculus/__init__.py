"""The symbolic kernel: variables with domains, sums of symbolic length, certified values, matrix words, moments."""
