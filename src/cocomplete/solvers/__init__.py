"""HOW the objective is minimised. Every solver takes an Objective and returns a Solution."""
