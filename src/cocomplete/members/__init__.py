"""WHAT CAN ANSWER: ensemble members, one a file."""
