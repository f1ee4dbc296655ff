"""The report: numbers first, as a typed record; then a page made of the record alone."""
