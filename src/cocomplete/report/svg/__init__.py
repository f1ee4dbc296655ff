"""Charts of the report as inline SVG: small pure functions from numbers to text, no chart library."""
