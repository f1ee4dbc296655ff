"""The scikit-learn estimator: its parameters, its fit, its attributes and its methods."""
