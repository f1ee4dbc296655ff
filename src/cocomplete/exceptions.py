"""The one exception a user of the package may meet."""


class InputError(ValueError):
    """Something the caller passed cannot be used.

    The message names the argument or file, what was found there and what to do about it. The command
    line prints it as one sentence and exits with 1; anything else that is raised is a defect of ours.
    """


class ClusterLostError(RuntimeError):
    """The cluster that a fit ran on is gone."""
