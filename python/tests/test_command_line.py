"""Python and the command line are one: models go both ways, and are the same to the last bit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import bagwise
from bagwise import TLLLP, AlterPSVM, BagGridSearchCV, ConvPSVM, InvCal, MeanMap, TLCount
from bagwise._options import in_python

CASES: list[tuple[Any, list[str], bool]] = [
    (TLLLP(C=1 / 3, lam=2, C_source=[0.7], calibrate="bags"),
     ["--C", repr(1 / 3), "--lambda", "2", "--C-source", "0.7", "--calibrate", "bags"], True),
    (TLLLP(kernel="rbf", scale="standard", max_rounds=40),
     ["--kernel", "rbf", "--scale", "standard", "--max-rounds", "40"], False),
    (InvCal(epsilon=0.01, metric="pca"), ["--epsilon", "0.01", "--metric", "pca"], False),
    (MeanMap(lam=0.5, calibrate="bags"), ["--lambda", "0.5", "--calibrate", "bags"], False),
    (AlterPSVM(C_p=0.5, restarts=2, reheat=False, random_state=7),
     ["--C-p", "0.5", "--restarts", "2", "--reheat", "false", "--seed", "7"], False),
    (ConvPSVM(scale="maxabs"), ["--scale", "maxabs"], False),
    (TLCount(exact_up_to=4), ["--exact-up-to", "4"], True),
]


@pytest.mark.parametrize(("estimator", "options", "transfers"), CASES)
def test_models_go_both_ways(estimator: Any, options: list[str], transfers: bool, data: Any, command_line: Any) -> None:
    files = command_line.write_task("target", *data.target)
    if transfers:
        files += command_line.write_task("source", *data.source)
    command_line("train", "--quiet", "--method", estimator._method.name, *files, *options, "-o", "theirs.json")
    ours = estimator.fit(*data.target, source=data.source if transfers else None)
    ours.save(command_line.folder / "ours.json")
    assert (command_line.folder / "ours.json").read_text() == (command_line.folder / "theirs.json").read_text()

    theirs = bagwise.load(command_line.folder / "theirs.json")
    assert type(theirs) is type(ours)
    for task in ["target", "source"] if transfers else ["target"]:
        scores, probabilities = command_line.scores("ours.json", data.X_test, "--task", task)
        assert np.array_equal(theirs.decision_function(data.X_test, task=task), scores)
        assert np.array_equal(ours.decision_function(data.X_test, task=task), scores)
        assert np.array_equal(ours.predict_proba(data.X_test, task=task)[:, 1], probabilities)
    common = {"calibrate", "random_state", "n_jobs", "verbose"}
    for name, value in ours.get_params().items():
        if name not in common:
            assert theirs.get_params()[name] == (value[0] if isinstance(value, list) else value)


def test_names_go_both_ways(data: Any, command_line: Any) -> None:
    pd = pytest.importorskip("pandas")
    X, bags, shares = data.target
    frame = pd.DataFrame(X, columns=["age", "a b", "c,d", 'q"q', "\u00e9", "f"])
    frame.assign(bag=bags).to_csv(command_line.folder / "t.csv", index=False)
    pd.Series(shares, name="proportion").rename_axis("bag").to_csv(command_line.folder / "p.csv")
    files = ["--target", "t.csv", "--target-proportions", "p.csv"]
    command_line("train", "--quiet", "--method", "inv-cal", *files, "-o", "m.json")
    loaded = InvCal.load(command_line.folder / "m.json")
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    assert np.array_equal(loaded.coef_, InvCal().fit(frame, bags, shares).coef_)


SEARCHES: list[tuple[Any, dict[str, Any], list[str]]] = [
    (InvCal(), {}, ["--method", "inv-cal"]),
    (InvCal(scale="standard"), {"cv": 3, "combine": "plane"},
     ["--method", "inv-cal", "--scale", "standard", "--folds", "3", "--combine", "plane"]),
    (MeanMap(), {"criterion": "likelihood", "combine": "best", "random_state": 4},
     ["--method", "mean-map", "--criterion", "likelihood", "--combine", "best", "--seed", "4"]),
    (InvCal(), {"search": "halving", "repeats": 2, "tau": 8},
     ["--method", "inv-cal", "--search", "halving", "--repeats", "2", "--tau", "8"]),
]


@pytest.mark.parametrize(("estimator", "how", "options"), SEARCHES)
def test_a_search_is_the_command_lines_tuning(
    estimator: Any, how: dict[str, Any], options: list[str], data: Any, command_line: Any
) -> None:
    files = command_line.write_task("target", *data.target)
    told = json.loads(command_line("tune", "--json", *options, *files, "-o", "theirs.json"))
    ours = BagGridSearchCV(estimator, **how).fit(*data.target)
    ours.save(command_line.folder / "ours.json")
    assert (command_line.folder / "ours.json").read_text() == (command_line.folder / "theirs.json").read_text()
    assert ours.best_score_ == -told["selection"]["value"]
    assert len(ours.cv_results_["params"]) == len(told["table"])
    scores, probabilities = command_line.scores("ours.json", data.X_test)
    assert np.array_equal(ours.decision_function(data.X_test), scores)
    assert np.array_equal(ours.predict_proba(data.X_test)[:, 1], probabilities)


def test_own_grids_are_grid_files(data: Any, command_line: Any) -> None:
    files = command_line.write_task("target", *data.target)
    grid = [{"lambda": [0.1, 1], "scale": ["none", "standard"]}, {"lambda": [5], "metric": ["pca"]}]
    (command_line.folder / "grid.json").write_text(json.dumps(grid))
    command_line("tune", "--quiet", "--method", "mean-map", "--grid", "grid.json", *files, "-o", "theirs.json")
    named = [{name.replace("lambda", "lam"): values for name, values in axes.items()} for axes in grid]
    BagGridSearchCV(MeanMap(), named).fit(*data.target).save(command_line.folder / "ours.json")
    assert (command_line.folder / "ours.json").read_text() == (command_line.folder / "theirs.json").read_text()


def test_several_methods_are_tuned_side_by_side(data: Any, command_line: Any) -> None:
    files = command_line.write_task("target", *data.target)
    options = ["--method", "auto", "--search", "halving", "--folds", "2"]
    command_line("tune", "--quiet", *options, *files, "-o", "theirs.json")
    ours = BagGridSearchCV("auto", search="halving", cv=2).fit(*data.target)
    ours.save(command_line.folder / "ours.json")
    assert (command_line.folder / "ours.json").read_text() == (command_line.folder / "theirs.json").read_text()
    loaded = bagwise.load(command_line.folder / "theirs.json")
    assert type(loaded) is type(ours.best_estimator_) and loaded.get_params() == ours.best_estimator_.get_params()
    assert np.array_equal(loaded.decision_function(data.X_test), ours.decision_function(data.X_test))


def test_bags_are_dealt_alike(command_line: Any) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((103, 2)), rng.integers(0, 2, 103)
    lines = [f"{label},{a!r},{b!r}" for label, (a, b) in zip(y, X.tolist())]
    (command_line.folder / "l.csv").write_text("label,x1,x2\n" + "\n".join(lines) + "\n")
    files = ["--input", "l.csv", "--out-instances", "i.csv", "--out-proportions", "p.csv"]
    command_line("bag", "--quiet", *files, "--size", 10, "--seed", 5)
    bags, proportions = bagwise.make_bags(X, y, size=10, random_state=5)
    rows = (command_line.folder / "i.csv").read_text().splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == bags.tolist()
    shares = [line.split(",")[:2] for line in (command_line.folder / "p.csv").read_text().splitlines()[1:]]
    assert {bag: float(share) for bag, share in shares} == proportions


@pytest.mark.parametrize("kind", ["gaussian", "documents"])
def test_data_are_generated_alike(kind: str, command_line: Any) -> None:
    sizes = {"source_rows": 60, "target_rows": 40, "test_rows": 30}
    flags = [part for name, value in sizes.items() for part in (f"--{name.replace('_', '-')}", value)]
    command_line("generate", "--quiet", "--kind", kind, "--preset", "unrelated", "--seed", 9, *flags, "--out", "d")
    made = bagwise.make_transfer_bags(kind, "unrelated", size=8, random_state=9, **sizes)
    for name, X in (("source", made.source[0]), ("target", made.target[0]), ("test", made.X_test)):
        table = np.genfromtxt(command_line.folder / "d" / f"{name}.csv", delimiter=",", skip_header=1)
        labels = table[:, 0]  # the label stands first
        values = X.toarray() if scipy.sparse.issparse(X) else X
        assert np.array_equal(values, table[:, 1:])
        if name == "test":
            assert np.array_equal(made.y_test, (labels > 0).astype(int))
    truth = json.loads((command_line.folder / "d" / "truth.json").read_text())
    assert made.best_accuracy == truth["best_accuracy"] and made.angle_degrees == truth["angle_degrees"]


def test_a_diagnosis_is_the_command_lines(data: Any, command_line: Any) -> None:
    files = [*command_line.write_task("target", *data.target), *command_line.write_task("source", *data.source)]
    command_line("train", "--quiet", "--method", "tl-llp", *files, "-o", "m.json")
    arguments = [*files, "--model", "m.json", "--folds", 4, "--bootstrap", 8, "--seed", 3]
    model = TLLLP().fit(*data.target, source=data.source)
    found = bagwise.diagnose(*data.target, source=data.source, estimator=model, folds=4, bootstrap=8, random_state=3)
    assert str(found).strip() == in_python(command_line("diagnose", *arguments).strip())
    told = json.loads(command_line("diagnose", "--json", *arguments))
    for finding in told["findings"]:
        finding["message"] = in_python(finding["message"])
        assert "--" not in finding["message"]
    assert found.to_dict() == told


def test_proportion_errors_are_those_of_evaluate(data: Any, command_line: Any) -> None:
    command_line.write_task("target", *data.target)
    model = InvCal().fit(*data.target)
    model.save(command_line.folder / "m.json")
    files = ["--input", "target.csv", "--proportions", "target-shares.csv"]
    told = json.loads(command_line("evaluate", "--json", "--model", "m.json", *files))
    X, bags, shares = data.target
    hard = bagwise.bag_proportion_error(model.predict(X), bags, shares)
    soft = bagwise.bag_proportion_error(model.predict_proba(X), bags, shares)
    np.testing.assert_allclose([hard, soft], [told["proportion_error"], told["soft_proportion_error"]], rtol=1e-12)


def test_labels_that_meet_shares_are_those_of_predict(data: Any, command_line: Any) -> None:
    X, bags, shares = data.target
    command_line.write_task("target", *data.target)
    model = InvCal().fit(*data.target)
    model.save(command_line.folder / "m.json")
    files = ["--input", "target.csv", "--proportions", "target-shares.csv"]
    command_line("predict", "--quiet", "--model", "m.json", *files, "-o", "out.csv")
    theirs = np.genfromtxt(command_line.folder / "out.csv", delimiter=",", names=True)["label"]
    ours = model.predict(X, bags=bags, proportions=shares)
    assert np.array_equal(ours, theirs) and not np.array_equal(ours, model.predict(X))


def test_errors_have_the_command_lines_words(data: Any, command_line: Any) -> None:
    X, bags, shares = data.target
    shares = {bag: share for bag, share in shares.items() if bag != bags[0]}
    files = command_line.write_task("target", X, bags, shares)
    said = command_line("train", "--quiet", "--method", "inv-cal", *files, "-o", "m.json", status=2)
    with pytest.raises(ValueError) as error:
        InvCal().fit(X, bags, shares)
    theirs = said.strip().removeprefix("bagwise: ")
    assert str(error.value) == theirs.replace("target-shares.csv", "proportions").replace("target.csv", "X")
