"""Tests, in folders by what they do."""
