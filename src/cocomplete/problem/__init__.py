"""WHAT is solved: the validated input and the objective."""
