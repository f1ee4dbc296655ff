"""The user's data in and out: containers, kinds of columns, and their encoding as columns of numbers."""
