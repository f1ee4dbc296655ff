"""stub until merged."""


def stop_requested() -> bool:
    """Whether the user asked to stop."""
    return False
