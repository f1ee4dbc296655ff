"""The paper's experiments: trials, records, pages, and a slice of its figures."""
