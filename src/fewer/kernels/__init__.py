"""Compiled loops: plain arrays in, plain arrays out, no policy. Each has a slow twin in the tests."""

from fewer.kernels.compiling import forget_what_cannot_be_read

forget_what_cannot_be_read()
