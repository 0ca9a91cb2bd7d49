"""How work is left in the middle: by Ctrl-C where it cannot stop, by the end of the process, by a pickle."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import bagwise

UNSTOPPABLE = """
import signal, sys, threading, os, numpy as np, bagwise
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(1)
X, bags = rng.normal(size=(5000, 5)), np.arange(5000) // 5
model = bagwise.ConvPSVM(kernel="rbf")
threading.Timer(0.8, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, bags, rng.integers(0, 6, 1000) / 5)  # minutes, most of them within one factorisation
except KeyboardInterrupt:
    print("stopped", sys.getrefcount(X) > 2, hasattr(model, "model_"), flush=True)
small = bagwise.InvCal().fit(X, bags, rng.random(1000))  # what was left to itself disturbs nothing
print(small.coef_.shape, flush=True)
"""

DAEMON = """
import sys, threading, time, numpy as np, bagwise
rng = np.random.default_rng(1)
X, bags = rng.normal(size=(20000, 20)), np.arange(20000) // 5
shares = rng.integers(0, 6, 4000) / 5
kernel = bagwise.InvCal(kernel="rbf").fit(X[:200], bags[:200], shares[:40])
work = {
    "fit": lambda: bagwise.TLCount().fit(X, bags, shares),
    "predict": lambda: kernel.decision_function(X),
    "diagnose": lambda: bagwise.diagnose(X, bags, shares),
}[sys.argv[1]]
def go_on():
    while True:
        work()
threading.Thread(target=go_on, daemon=True).start()
time.sleep(0.5)
print("end", flush=True)
"""

LATE = """
import numpy as np, bagwise
from bagwise import _core
rng = np.random.default_rng(1)
X, bags, shares = rng.normal(size=(40, 2)), np.arange(40) // 4, rng.random(10)

class Cycle:
    def __init__(self):
        self.me = self
        self.rows = _core.Rows.dense(rng.normal(size=(3, 2)), ["x1", "x2"])

class Late:
    def __init__(self):
        self.me, self.fit = self, bagwise.InvCal().fit
    def __del__(self):
        self.fit(X, bags, shares)
        print("late", flush=True)

kept = Cycle(), Late()
print("end", flush=True)
"""


def test_what_is_left_over_ends_with_the_process() -> None:
    ran = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "end\nlate\n"), ran.stderr


def test_ctrl_c_is_served_where_the_work_cannot_stop() -> None:
    ran = subprocess.run([sys.executable, "-c", UNSTOPPABLE], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "stopped True False\n(1, 5)\n", ran.stderr
    assert ran.returncode == 0


@pytest.mark.parametrize("what", ["fit", "predict", "diagnose"])
def test_a_process_ends_quietly_while_a_daemon_thread_works(what: str) -> None:
    ran = subprocess.run([sys.executable, "-c", DAEMON, what], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stderr  # a warning of a fit may be on stderr


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickle_works(protocol: int, data: Any) -> None:
    model = bagwise.InvCal().fit(*data.target)
    again = pickle.loads(pickle.dumps(model, protocol=protocol))
    assert np.array_equal(again.coef_, model.coef_)
    assert again.model_.text() == model.model_.text()


def test_a_pickled_model_that_was_changed_is_refused(data: Any) -> None:
    text = pickle.dumps(bagwise.InvCal().fit(*data.target).model_, protocol=0)
    with pytest.raises(ValueError, match="a pickled model"):
        pickle.loads(text.replace(b'"bias"', b'"bios"'))


def test_a_signal_that_raises_passes_through() -> None:
    class Alarm(Exception):
        pass

    def ring(*_: Any) -> None:
        raise Alarm

    made = bagwise.make_transfer_bags(target_rows=4000, features=40, test_rows=10)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Alarm):
            bagwise.AlterPSVM(restarts=2000).fit(*made.target)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
