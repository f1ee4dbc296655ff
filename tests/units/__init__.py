"""What one part does: its results by hand, its conventions, its messages."""
