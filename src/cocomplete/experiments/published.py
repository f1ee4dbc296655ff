"""The paper's own figures, as printed in its Tables 1 and 2: mean and standard deviation."""

from typing import NamedTuple


class Published(NamedTuple):
    """One printed figure, and whether it is printed in bold."""

    mean: float
    std: float
    bold: bool = False

    def __str__(self) -> str:
        """Give it as printed."""
        return f"{self.mean:.4f} ± {self.std:.4f}"


METHODS_1 = ("COCO-1", "COCO-0", "Maxide", "Mc")
"""Columns of Table 1."""

SETTINGS_1 = (
    (1000, 500, 100, 10, 0.2),
    (1000, 500, 100, 20, 0.4),
    (1000, 500, 300, 20, 0.3),
    (1000, 800, 100, 20, 0.3),
    (5000, 500, 100, 10, 0.4),
    (5000, 500, 100, 20, 0.3),
    (5000, 500, 100, 20, 0.4),
    (5000, 500, 300, 20, 0.3),
    (10000, 500, 100, 10, 0.2),
    (10000, 500, 100, 10, 0.3),
)
"""Rows of Table 1: n, d, l, r and ω."""

_X = """
0.0221±0.0001* 0.0527±0.0004 0.5413±0.0027 0.5414±0.0027
0.0148±0.0001* 0.0249±0.0001 0.3745±0.0026 0.3745±0.0026
0.0188±0.0002* 0.0372±0.0004 0.5267±0.0013 0.5268±0.0013
0.0137±0.0001* 0.0269±0.0003 0.5244±0.0013 0.5244±0.0013
0.0082±0.0001* 0.0101±0.0001 0.4289±0.0019 0.4288±0.0019
0.0061±0.0000* 0.0153±0.0000 0.6581±0.0011 0.6579±0.0011
0.0064±0.0000* 0.0107±0.0000 0.5515±0.0011 0.5514±0.0011
0.0066±0.0000* 0.0154±0.0000 0.6578±0.0012 0.6574±0.0012
0.0049±0.0000* 0.0157±0.0001 0.7387±0.0008 0.7386±0.0008
0.0054±0.0000* 0.0098±0.0001 0.6292±0.0011 0.6291±0.0011
"""

_Y = """
0.0318±0.0008* 0.0319±0.0009* 0.2987±0.0023 0.2829±0.0018
0.0221±0.0007* 0.0221±0.0007* 0.2560±0.0016 0.1937±0.0009
0.0310±0.0003* 0.0314±0.0004 0.2697±0.0017 0.2392±0.0008
0.0285±0.0006* 0.0283±0.0006 0.2644±0.0032 0.2659±0.0015
0.0158±0.0004* 0.0161±0.0004 0.3269±0.0019 0.0827±0.0004
0.0177±0.0003* 0.0181±0.0003 0.3205±0.0010 0.1355±0.0007
0.0143±0.0001* 0.0146±0.0002 0.3196±0.0007 0.0935±0.0008
0.0196±0.0001* 0.0203±0.0001 0.3204±0.0008 0.1317±0.0003
0.0212±0.0003* 0.0220±0.0003 0.3389±0.0011 0.1360±0.0004
0.0175±0.0003* 0.0181±0.0003 0.3429±0.0008 0.0896±0.0008
"""

METHODS_2 = ("COCO", "Maxide", "Mc", "Oracle")
"""Rows of Table 2."""

FIGURES_2 = ("X", "Y", "LIMO", "network")
"""Columns of Table 2."""

_CAL500 = """
0.6477±0.0336* 0.1025±0.0004* 0.1513±0.0068* 0.1469±0.0041*
0.8588±0.0170 0.1074±0.0009 0.1602±0.0081 0.1498±0.0032
0.8608±0.0168 0.1430±0.0008 0.1533±0.0054 0.1486±0.0036
0.0000±0.0000 0.0000±0.0000 0.1388±0.0021 0.1369±0.0020
"""


def _read(text: str) -> Published:
    mean, std = text.rstrip("*").split("±")
    return Published(float(mean), float(std), text.endswith("*"))


def _rows(block: str) -> list[list[Published]]:
    return [[_read(cell) for cell in line.split()] for line in block.strip().splitlines()]


TABLE_1 = {
    (setting, method, figure): printed
    for figure, block in (("X", _X), ("Y", _Y))
    for setting, row in zip(SETTINGS_1, _rows(block), strict=True)
    for method, printed in zip(METHODS_1, row, strict=True)
}
"""Printed figure of a setting, a method and "X" or "Y"."""

TABLE_2 = {
    (method, figure): printed
    for method, row in zip(METHODS_2, _rows(_CAL500), strict=True)
    for figure, printed in zip(FIGURES_2, row, strict=True)
}
"""Printed figure of a method and a column; the rows of Maxide and Mc are as printed, not exchanged."""
