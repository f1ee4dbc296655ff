"""LIMO's stochastic steps, compiled by Numba and cached on disk.

Rows of X come as compressed sparse rows and cost what they hold: a weight vector decays by a number kept
beside it, w_j = decay_j · V_j, and the sum of w_j over all iterations is kept as mass_j · V_j + total_j, with
mass_j the sum of decay_j over the iterations in which V_j stood still. Nothing is done for labels that an
iteration does not touch.
"""

from numba import njit

SMALLEST_DECAY = 1e-3
"""Below it the decay is multiplied out, before digits are lost."""


@njit(cache=True)
def _pick(draw, count):
    """Turn a draw from [0, 1) into one of ``count`` numbers."""
    return min(int(draw * count), count - 1)


@njit(cache=True)
def _absent(members, draw, count):
    """Draw one of 0 … count − 1 that is not among the sorted ``members``."""
    rank = _pick(draw, count - len(members))
    low, high = 0, len(members)
    while low < high:
        middle = (low + high) // 2
        if members[middle] - middle > rank:
            high = middle
        else:
            low = middle + 1
    return rank + low


@njit(cache=True)
def _score(j, row, x_start, x_column, x_value, V, decay):
    """Give w_jᵀ x_row."""
    total = 0.0
    for q in range(x_start[row], x_start[row + 1]):
        total += V[j, x_column[q]] * x_value[q]
    return decay[j] * total


@njit(cache=True)
def _shorten(j, now, step, V, total, decay, mass, seen):
    """Count w_j up to the iteration before ``now``, then let it decay: w_j ← (1 − step) w_j."""
    mass[j] += decay[j] * (now - 1 - seen[j])
    seen[j] = now - 1
    decay[j] *= 1.0 - step
    if decay[j] < SMALLEST_DECAY:
        for c in range(V.shape[1]):
            total[j, c] += mass[j] * V[j, c]
            V[j, c] *= decay[j]
        mass[j] = 0.0
        decay[j] = 1.0


@njit(cache=True)
def _add(j, row, amount, x_start, x_column, x_value, V, total, decay, mass):
    """Let w_j ← w_j + amount · x_row, without changing what was summed so far."""
    share = amount / decay[j]
    for q in range(x_start[row], x_start[row + 1]):
        change = share * x_value[q]
        V[j, x_column[q]] += change
        total[j, x_column[q]] -= mass[j] * change


@njit(cache=True)
def margin_steps(
    x_start,
    x_column,
    x_value,
    label_start,
    label_column,
    row_start,
    row_number,
    draws,
    done,
    step,
    label_weight,
    instance_weight,
    V,
    total,
    decay,
    mass,
    seen,
):
    """Do one iteration of LIMO per row of ``draws``: a label-wise and an instance-wise step.

    Parameters
    ----------
    x_start, x_column, x_value : rows of X (n × d)
    label_start, label_column : labels of each row, ascending
    row_start, row_number : rows of each label, ascending
    draws : (iterations × 6) uniform on [0, 1): row, positive, negative label; row, positive, negative row
    done : iterations before these
    step, label_weight, instance_weight : step size, λ₁, λ₂
    V, total (l × d), decay, mass, seen (l) : read and written; see the module's text
    """
    n, n_labels = x_start.shape[0] - 1, V.shape[0]
    for k in range(draws.shape[0]):
        now = done + k + 1
        if label_weight > 0:
            i = _pick(draws[k, 0], n)
            positives = label_column[label_start[i] : label_start[i + 1]]
            if 0 < len(positives) < n_labels:
                u = positives[_pick(draws[k, 1], len(positives))]
                v = _absent(positives, draws[k, 2], n_labels)
                if (
                    _score(v, i, x_start, x_column, x_value, V, decay)
                    > _score(u, i, x_start, x_column, x_value, V, decay) - 1
                ):
                    _shorten(u, now, step, V, total, decay, mass, seen)
                    _add(u, i, step * label_weight, x_start, x_column, x_value, V, total, decay, mass)
                    _shorten(v, now, step, V, total, decay, mass, seen)
                    _add(v, i, -step * label_weight, x_start, x_column, x_value, V, total, decay, mass)
        if instance_weight > 0:
            i = _pick(draws[k, 3], n)
            positives = label_column[label_start[i] : label_start[i + 1]]
            if len(positives) > 0:
                j = positives[_pick(draws[k, 4], len(positives))]
                members = row_number[row_start[j] : row_start[j + 1]]
                if len(members) == n:
                    # No row lacks the label: nothing to keep a distance from.
                    _shorten(j, now, step, V, total, decay, mass, seen)
                    _add(j, i, step * instance_weight, x_start, x_column, x_value, V, total, decay, mass)
                else:
                    b = _absent(members, draws[k, 5], n)
                    if (
                        _score(j, b, x_start, x_column, x_value, V, decay)
                        > _score(j, i, x_start, x_column, x_value, V, decay) - 1
                    ):
                        _shorten(j, now, step, V, total, decay, mass, seen)
                        _add(j, i, step * instance_weight, x_start, x_column, x_value, V, total, decay, mass)
                        _add(j, b, -step * instance_weight, x_start, x_column, x_value, V, total, decay, mass)
