"""What holds of every table: invariances, properties found with Hypothesis, contracts."""
