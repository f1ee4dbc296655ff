"""The command in a process of its own, from file to file."""
