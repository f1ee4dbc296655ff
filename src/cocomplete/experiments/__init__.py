"""The paper's experiments, each a list of trials that a runner works through and pages that show them."""
