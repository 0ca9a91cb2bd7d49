"""The six estimators, one per method."""

from __future__ import annotations

from bagwise._base import Estimator, estimator


@estimator("tl-llp", rounds="Rounds of solving and moving.")
class TLLLP(Estimator):
    """Large margins on bag means, with transfer from source tasks, under uncertain rows.

    TL-LLP learns one plane per task: a common part and a part of its own. Tasks with bags of their own, the sources,
    tell what the common part is, so that a target with few bags is learnt better. Each bag asks that the score of its
    mean be the log-odds of its share of positives, within a tube. Rows may be uncertain: `delta` says by how much.

    {parameters}

    {attributes}

    See Also
    --------
    TLCount : Likely counts in place of means; more accurate on single rows, at more cost.
    InvCal : The same without sources.

    Examples
    --------
    >>> from bagwise import TLLLP, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=200, source_rows=800, features=20, test_rows=1000)
    >>> alone = TLLLP().fit(*data.target)
    >>> helped = TLLLP().fit(*data.target, source=data.source)
    >>> helped.score(data.X_test, data.y_test) > alone.score(data.X_test, data.y_test)
    True
    >>> helped.coef_.shape
    (1, 20)

    Scores of the source's own plane:

    >>> helped.decision_function(data.X_test, task="source").shape
    (1000,)
    """


@estimator("inv-cal", rounds="Rounds of the solver.")
class InvCal(Estimator):
    """Regress the inverse-calibrated proportions on the bag means.

    InvCal (Rueping 2010) looks for a plane whose score at the mean of each bag is the log-odds of the bag's share of
    positives, by support vector regression. It reads each row once and keeps sums per bag, so that it is quick
    however many rows there are.

    {parameters}

    {attributes}

    See Also
    --------
    TLLLP : The same with transfer from sources and uncertain rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bagwise import InvCal
    >>> X = np.array([[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]])
    >>> bags = ["north", "north", "south", "south", "east", "east"]
    >>> model = InvCal(C=10).fit(X, bags, {"north": 0, "south": 1, "east": 0.5})
    >>> model.predict([[0.0], [1.0]])
    array([0, 1])
    """


@estimator("mean-map", rounds="Steps of the solver.")
class MeanMap(Estimator):
    """Logistic regression from class means that the bags tell.

    MeanMap (Quadrianto et al. 2009) finds the means of both classes by least squares from the means of the bags, and
    fits a logistic regression that needs labels through these means only.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from bagwise import MeanMap, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=400, features=10, size=4, test_rows=500)
    >>> model = MeanMap(lam=10).fit(*data.target)
    >>> model.score(data.X_test, data.y_test) > 0.7
    True
    """


@estimator("alter-psvm", rounds="Rounds of the best start.")
class AlterPSVM(Estimator):
    """Labels and a large-margin plane by turns, from several starts.

    alter-pSVM (Yu et al. 2013) treats the labels of the rows as unknowns. With the labels fixed it fits a support
    vector machine, with the machine fixed it finds the best labels that fit the bags, and so on, from many starts.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from bagwise import AlterPSVM, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=200, features=10, size=4, test_rows=500)
    >>> model = AlterPSVM(restarts=2).fit(*data.target)
    >>> model.score(data.X_test, data.y_test) > 0.7
    True
    """


@estimator("conv-psvm", rounds="Rounds, each with one more labeling.")
class ConvPSVM(Estimator):
    """The convex relaxation over all labelings that fit the bags, by cuts.

    conv-pSVM (Yu et al. 2013) looks for a support vector machine over all labelings whose counts fit the bags at once,
    and adds the most violated labeling in each round.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from bagwise import ConvPSVM, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=200, features=10, size=4, test_rows=500)
    >>> model = ConvPSVM(scale="standard").fit(*data.target)
    >>> model.predict(data.X_test).shape
    (500,)
    """


@estimator("tl-count", rounds="Steps of the solver.")
class TLCount(Estimator):
    """Likely numbers of positives in every bag, with transfer from source tasks.

    tl-count maximises the likelihood that each bag has as many positives as it is known to have, given the
    probabilities of its rows; tasks share a common plane as in TL-LLP. It was the most accurate of the six on real
    text, with sources and without.

    {parameters}

    {attributes}

    See Also
    --------
    TLLLP : Convex, and reads the rows once.

    Examples
    --------
    >>> from bagwise import TLCount, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=200, source_rows=800, features=20, test_rows=1000)
    >>> model = TLCount(metric="pca").fit(*data.target, source=data.source)
    >>> model.score(data.X_test, data.y_test) > 0.8
    True
    """


ESTIMATORS: dict[str, type[Estimator]] = {
    cls._method.name: cls for cls in (TLLLP, InvCal, MeanMap, AlterPSVM, ConvPSVM, TLCount)
}
