"""The campaign: what a user may do to cocomplete, tried many thousand times. ``python -m trust`` runs it."""
