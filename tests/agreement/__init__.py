"""The same from two sides: CVXPY, plain SVDs and NumPy twins beside solvers and compiled kernels."""
