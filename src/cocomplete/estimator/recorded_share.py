"""Labels of which only ones are ever recorded: the share that is, and what follows for unknown ones."""

import numpy as np

from cocomplete.arrays import BoolArray
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.settings import Settings
from cocomplete.fitted.positive_labels import PositiveLabels
from cocomplete.members.average import Average
from cocomplete.problem.observations import Observations


def fit_positive_labels(
    observed: Observations, yes_no: BoolArray, settings: Settings, messages: Messages
) -> PositiveLabels | None:
    """Estimate the recorded share where only ones are recorded; None where that is not so.

    A warning is left in ``messages`` where the data do not identify it.
    """
    if not settings.only_ones_recorded or not observed.n_labels or not observed.n_features:
        return None
    features = Observations(observed.X, np.empty((observed.n_samples, 0), observed.X.dtype))
    average = Average.fit(features, yes_no, gaussian=not yes_no.all())
    labels = PositiveLabels.fit(observed, average, settings.share)
    messages.recorded_share(labels.found)
    return labels
