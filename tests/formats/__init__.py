"""Files in and out: nasty ones, round trips, damage."""
