"""What a solver declares of itself.

A file of this folder that has a ``SOLVER`` is found by :mod:`cocomplete.solvers.choice`, and can be asked
for by its name from then on; nothing else is to be changed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cocomplete.problem.objective import Regime
from cocomplete.solvers.solution import Solution

ALL_REGIMES: tuple[Regime, ...] = ("smooth", "interpolation", "between")


@dataclass(frozen=True)
class Solver:
    """A way to minimise F.

    Attributes
    ----------
    name : str
        What ``CoCompleter(solver=...)`` calls it.
    solve : callable
        Called with an Objective, ``progress`` and, by keyword, those of ``max_iter``, ``settings`` and
        ``options`` that were given; gives a Solution.
    regimes : tuple of str
        Those of :attr:`cocomplete.problem.objective.Objective.regime` that it minimises.
    settings : tuple of str, default=()
        Parameters of the estimator that ``solve`` takes: ``tol``, ``max_rank``.
    options : tuple of str, default=()
        What ``solver_options`` may hold, each a number above 0 or None.
    dense : bool, default=False
        Whether it needs the whole matrix rather than the observed cells.
    exact : bool, default=True
        Whether it stops at a duality gap of ``tol``; otherwise it runs its iterations and has no certificate.
    free_offsets : bool, default=True
        Whether it minimises over offsets too; otherwise they are fixed beforehand.
    resumes : bool, default=False
        Whether ``solve`` takes a ``stage`` of a checkpoint, stores its state there and goes on from it.
    """

    name: str
    solve: Callable[..., Solution]
    regimes: tuple[Regime, ...]
    settings: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    dense: bool = False
    exact: bool = True
    free_offsets: bool = True
    resumes: bool = False
