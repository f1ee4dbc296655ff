"""The fitted model: weighted ensemble members, their joint draws, and the user's table around them."""
