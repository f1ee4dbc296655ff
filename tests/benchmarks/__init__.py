"""Benchmarks are judges, so they are judged."""
