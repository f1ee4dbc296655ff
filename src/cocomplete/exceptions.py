"""The one exception a user of the package may meet."""


class InputError(ValueError):
    """Something the caller passed cannot be used.

    The message names the argument or file, what was found there and what to do about it. The command
    line prints it as one sentence and exits with 1; anything else that is raised is a defect of ours.

    Parameters
    ----------
    message : str
        Put on one line, whatever the names and values in it hold.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()) if len(message.splitlines()) > 1 else message)


class ClusterLostError(RuntimeError):
    """The cluster that a fit ran on is gone."""
