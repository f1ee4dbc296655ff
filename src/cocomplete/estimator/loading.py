"""A fitted estimator from its file."""

from os import PathLike

from cocomplete.estimator import model_file
from cocomplete.estimator.completer import CoCompleter
from cocomplete.parameter_checks import as_path


def load(path: str | PathLike[str]) -> CoCompleter:
    """Read a model that :meth:`CoCompleter.save` has written.

    Nothing in the file is run: it can only make the records that a model consists of.

    Parameters
    ----------
    path : path

    Raises
    ------
    InputError
        With one sentence, if the file is missing, damaged, no model or of a later version.

    Examples
    --------
    >>> import tempfile
    >>> from cocomplete import CoCompleter, load
    >>> model = CoCompleter().fit([[1.0, 2.0], [2.0, None], [3.0, 6.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.cocomplete")
    ...     again = load(f"{folder}/model.cocomplete")
    >>> bool((again.transform([[None, 4.0]]) == model.transform([[None, 4.0]])).all())
    True
    """
    state = model_file.load(as_path("path", path))
    model = CoCompleter()
    # Files of earlier versions lack parameters that have come since.
    model.__dict__ = vars(model) | state
    return model
