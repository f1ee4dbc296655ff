"""WHERE the passes over the observed cells run."""
