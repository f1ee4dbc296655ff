"""Files to tables and back, one format a file."""
