"""Arithmetic that the kernels share."""

# Sums may be reordered, but infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}
