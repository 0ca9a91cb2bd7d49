#!/usr/bin/python3
"""Ranks on three hosts, each a network namespace with an address of its own; then one of them is cut off.

usage: tests/distributed/hosts_test.py BAGWISE COMMUNICATOR_CHECK

Exit status 77: there can be no namespaces here (not root, no iproute2, a container without the right).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ranks import check, finish, run, write_bags

BAGWISE, CHECK = sys.argv[1:3]
HOSTS = "abc"
TIMEOUT = 5  # seconds of silence that are too many
# mpirun waits for the daemon of a lost host for many minutes unless it is told to ask after it.
KEEPALIVE = [word for name, value in (("time", 3), ("intvl", 1), ("probes", 3))
             for word in ("--mca", f"oob_tcp_keepalive_{name}", str(value))]
AGENT = """#!/bin/sh
# In place of ssh: the host is a namespace.
host=$1
shift
exec ip netns exec "{prefix}-$(echo "$host" | sed 's/.*[.]1$/a/; s/.*[.]2$/b/; s/.*[.]3$/c/')" \\
  unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "node-${{host##*.}}" "$*"
"""


class Hosts:
    """Three namespaces on one bridge, which has a namespace of its own."""

    def __init__(self, folder):
        self.prefix = f"bw{os.getpid()}"
        self.agent = folder / "agent"
        self.agent.write_text(AGENT.format(prefix=self.prefix))
        self.agent.chmod(0o755)

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)

    def __enter__(self):
        switch = f"{self.prefix}-switch"
        try:
            self.ip("netns", "add", switch)
            self.ip("-n", switch, "link", "add", "bridge", "type", "bridge")
            self.ip("-n", switch, "link", "set", "bridge", "up")
            for number, host in enumerate(HOSTS, 1):
                name = f"{self.prefix}-{host}"
                self.ip("netns", "add", name)
                self.ip("link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", f"to-{host}", "netns", switch)
                self.ip("-n", switch, "link", "set", f"to-{host}", "master", "bridge", "up")
                self.ip("-n", name, "addr", "add", f"10.77.77.{number}/24", "dev", "eth0")
                self.ip("-n", name, "link", "set", "eth0", "up")
                self.ip("-n", name, "link", "set", "lo", "up")
        except (OSError, subprocess.SubprocessError) as fault:
            self.__exit__()
            print(f"skipped: no network namespaces here: {fault}")
            sys.exit(77)
        return self

    def __exit__(self, *_):
        for name in (*(f"{self.prefix}-{host}" for host in HOSTS), f"{self.prefix}-switch"):
            pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False).stdout
            for pid in pids.split():
                subprocess.run(["kill", "-9", pid], check=False, capture_output=True)
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def cut(self, host):
        self.ip("-n", f"{self.prefix}-switch", "link", "set", f"to-{host}", "down")

    def mpirun(self, *words):
        return ["ip", "netns", "exec", f"{self.prefix}-a", "unshare", "--uts", "sh", "-c", 'hostname node-1; exec "$@"',
                "sh", "mpirun", "--host", ",".join(f"10.77.77.{n}:1" for n in range(1, 4)), "-n", "3",
                "--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0",
                "--mca", "oob_tcp_if_include", "eth0", *words]

    def living(self):
        out = []
        for host in HOSTS:
            pids = subprocess.run(["ip", "netns", "pids", f"{self.prefix}-{host}"], capture_output=True, text=True,
                                  check=False).stdout
            for pid in pids.split():
                name = Path(f"/proc/{pid}/comm")
                if name.exists() and name.read_text().strip() == "bagwise":
                    out.append(host)
        return out


def same_model(hosts, folder):
    words = [BAGWISE, "train", "--method", "inv-cal", "--target", "t.csv", "--target-proportions", "p.csv", "--quiet", "-o"]
    run([*words, "one.json"], folder)
    ended = run(hosts.mpirun(*words, "many.json"), folder)
    check(ended.status == 0, f"train over three hosts: {ended.status} {ended.err}")
    if ended.status == 0:
        one, many = (json.loads((folder / name).read_text())["training"]["objective"] for name in ("one.json", "many.json"))
        check(abs(one - many) <= 1e-9 * abs(one), f"train over three hosts: objective {many}, of one process {one}")


def cut_off(hosts, folder):
    """A long training that uses all ranks, cut in the middle."""
    words = [BAGWISE, "experiment", "long.json", "--out", "long", "--quiet"]
    cut_at = []

    def meanwhile(process):
        until = time.monotonic() + 60
        while time.monotonic() < until and len(hosts.living()) < 3:
            time.sleep(0.1)
        time.sleep(2)
        check(process.poll() is None, "the run was too short to be cut")
        hosts.cut("c")
        cut_at.append(time.monotonic())

    ended = run(hosts.mpirun(*KEEPALIVE, *words), folder, meanwhile, BAGWISE_RANK_TIMEOUT=str(TIMEOUT))
    seconds = time.monotonic() - cut_at[0]
    check(ended.status != 0, "a host was cut off: exit status 0")
    check(seconds < 60, f"a host was cut off: the end came after {seconds:.0f} s")
    # Whoever notices first says so: a rank, or mpirun.
    check(any("rank 2 on node-3 has not been heard of" in line for line in ended.said())
          or ("lost communication with a remote daemon" in ended.err and "10.77.77.3" in ended.err),
          f"a host was cut off: said {ended.said()} {ended.err}")
    until = time.monotonic() + 30
    while hosts.living() and time.monotonic() < until:
        time.sleep(0.5)
    check(not hosts.living(), f"a host was cut off: ranks live on in {hosts.living()}")
    print(f"cut off: the error came after {seconds:.0f} s")


def main():
    if os.getuid() != 0 or not all(shutil.which(tool) for tool in ("ip", "unshare", "mpirun")):
        print("skipped: needs root, iproute2 and mpirun")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_bags(folder / "t.csv", folder / "p.csv", bags=60, rows=20, features=6, seed=1)
        (folder / "long.json").write_text(json.dumps({
            "name": "long", "title": "long",
            "data": [{"name": "g", "title": "g", "kind": "gaussian", "preset": "related", "source_rows": 400,
                      "target_rows": 400, "features": 20}],
            "methods": [{"name": "alter-psvm", "title": "a"}], "bag_sizes": [2, 4, 8, 16], "noise": [0], "folds": 8,
            "run_folds": 8, "seed": 1,
            "selection": {"folds": 5, "criterion": "miscount", "combine": "best", "search": "grid"}}))
        with Hosts(folder) as hosts:
            ended = run(hosts.mpirun(CHECK), folder)
            check(ended.status == 0, f"the communicator over three hosts: {ended.status} {ended.err}")
            same_model(hosts, folder)
            cut_off(hosts, folder)
    finish()


if __name__ == "__main__":
    main()
