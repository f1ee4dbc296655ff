"""Held-out cells, judging and combining."""
