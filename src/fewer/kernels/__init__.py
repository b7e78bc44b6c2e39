"""Compiled loops: plain arrays in, plain arrays out, no policy. Each has a slow twin in the tests."""
