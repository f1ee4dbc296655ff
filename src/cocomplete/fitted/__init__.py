"""The model that answers: weighted members, their joint draws, and the user's table around them."""
