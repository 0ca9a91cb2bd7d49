"""How fits behave while they run: stops, threads, progress, warnings."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bagwise import TLLLP, AlterPSVM, BagGridSearchCV, BagwiseWarning, InvCal, diagnose
from bagwise._numpy_check import check_numpy

LONG = """
import signal, sys, bagwise
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told us to ignore it
data = bagwise.make_transfer_bags(target_rows=8000, features=60, test_rows=10)
model = bagwise.AlterPSVM(restarts=2000)  # many minutes, unless it is stopped
what = {
    "fit": lambda: model.fit(*data.target),
    "search": lambda: bagwise.BagGridSearchCV(bagwise.AlterPSVM(), repeats=50).fit(*data.target),
}[sys.argv[1]]
print("begin", flush=True)
try:
    what()
except KeyboardInterrupt:
    print("stopped", flush=True)
print("after", hasattr(model, "model_"), flush=True)
"""

@pytest.mark.parametrize("what", ["fit", "search"])
def test_ctrl_c_stops_a_long_fit(what: str, tmp_path: Any) -> None:
    command = [sys.executable, "-c", LONG, what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as running:
        try:
            assert running.stdout is not None and running.stdout.readline() == "begin\n"
            time.sleep(0.7)
            assert running.poll() is None
            running.send_signal(signal.SIGINT)
            assert running.stdout.readline() == "stopped\n"
            assert running.stdout.readline() == "after False\n"
            assert running.wait(10) == 0
        finally:
            running.kill()


def test_other_threads_run_while_a_fit_does(data: Any) -> None:
    done = threading.Event()

    def fit() -> None:
        AlterPSVM(restarts=100, n_jobs=1).fit(*data.target)
        done.set()

    fitting = threading.Thread(target=fit)
    fitting.start()
    counted = 0
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    fitting.join()
    assert counted > 20  # with the lock held it would be 1 or 2


def test_fits_in_several_threads_do_not_disturb_each_other(data: Any) -> None:
    expected = {C: InvCal(C=C).fit(*data.target).coef_ for C in (0.5, 1.0, 2.0, 4.0)}
    found: dict[float, Any] = {}

    def fit(C: float) -> None:
        found[C] = InvCal(C=C).fit(*data.target).coef_

    threads = [threading.Thread(target=fit, args=(C,)) for C in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[C], expected[C]) for C in expected)


def test_fits_are_quiet_unless_asked(data: Any, capfd: pytest.CaptureFixture[str]) -> None:
    InvCal().fit(*data.target)
    assert capfd.readouterr() == ("", "")
    AlterPSVM(verbose=True, restarts=20).fit(*data.target)
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("\r") and "done in" in err and err.endswith("\n")


def test_an_early_end_is_a_convergence_warning(data: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="before it reached what was asked"):
        model = TLLLP(max_rounds=1, tolerance=0).fit(*data.target)
    assert model.report_["termination"] != "converged"


def test_remarks_are_warnings_at_the_callers_line(data: Any) -> None:
    pd = pytest.importorskip("pandas")
    X, bags, shares = data.target
    noisy = pd.DataFrame({"bag": list(shares), "proportion": list(shares.values()), "stderr": 0.1})
    noisy.loc[0, "proportion"] = -0.05
    with pytest.warns(BagwiseWarning, match="noisy proportions lay outside") as caught:
        InvCal().fit(X, bags, noisy)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        InvCal().fit(*data.target)


def test_what_a_progress_callback_raises_passes_through(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the terminal is gone")

    monkeypatch.setattr("bagwise._progress._line", broken)
    with pytest.raises(RuntimeError, match="the terminal is gone"):
        AlterPSVM(verbose=True, restarts=1000).fit(*data.target)


def test_matplotlib_is_not_loaded_unless_needed(tmp_path: Any) -> None:
    script = (
        "import sys, bagwise\n"
        "data = bagwise.make_transfer_bags(target_rows=80, features=3, test_rows=10, size=4)\n"
        "bagwise.InvCal().fit(*data.target).predict(data.X_test)\n"
        "bagwise.BagGridSearchCV(bagwise.MeanMap()).fit(*data.target)\n"
        "print([name for name in ('matplotlib', 'bagwise._plots') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "[]\n"


def test_arrays_that_are_misread_are_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    check_numpy()
    misread = np.zeros(3, dtype=np.uint32), np.array([7, 7])
    monkeypatch.setattr("bagwise._numpy_check._core.number_integers", lambda _: misread)
    with pytest.raises(ImportError, match="cannot read the arrays of numpy"):
        check_numpy()


def test_a_failed_fit_leaves_the_last_model(data: Any) -> None:
    model = InvCal().fit(*data.target)
    before = model.coef_
    with pytest.raises(ValueError):
        model.set_params(C=-1).fit(*data.target)
    assert np.array_equal(model.coef_, before)


def test_searches_and_diagnoses_show_progress_too(data: Any, capfd: pytest.CaptureFixture[str]) -> None:
    BagGridSearchCV(InvCal(), verbose=True).fit(*data.target)
    assert "done in" in capfd.readouterr().err
    diagnose(*data.target, verbose=True)
    assert "done in" in capfd.readouterr().err
