"""Means over the cells of a study, and how sure they are."""
import math


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def error(values):
    """Standard error of the mean."""
    if len(values) < 2:
        return float("nan")
    centre = mean(values)
    return math.sqrt(sum((v - centre) ** 2 for v in values) / (len(values) - 1) / len(values))
