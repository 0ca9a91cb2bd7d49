#!/usr/bin/python3
"""Makes pages with the real binary and looks at them in headless Chromium.

usage: tests/page/page_test.py BAGWISE [FOLDER]

Every page is shown at the width of a desk, of a phone, and in the dark; measure.js says what is there. Checked: every
figure is drawn, nothing is wider than a phone, nothing asks the network, no message of the console, contrast, no text
that is cut or lies over another, names that look like markup stay names; and that it prints. Names try to run a script
and to fetch from a trap; a page without its policy must hold as well, and a page without escapes must be caught.
Exit status 77: there is no Chromium. With FOLDER the pages stay there.
"""

import html
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
DESK, PHONE = 1200, 390
PATIENCE = 140  # seconds; it takes two on a machine that has nothing else to do
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; alert(1); '",
    "</title></style></svg><svg onload=alert(1)>",
    "a,b\t\x1b[31mc",
    "a name so long that no chart has room for it, with words that go on and on",
    "\u202egnirts",
    "&lt;b&gt;",
    "</script><script>top.canary=1</script>",
    "javascript:top.canary=1",
    '" autofocus onfocus=top.canary=1 x="',
    "<img src=http://127.0.0.1:PORT/i>",
    "--></style><link rel=stylesheet href=//127.0.0.1:PORT/l>",
    "url(http://127.0.0.1:PORT/u)",
    "=HYPERLINK(1);@SUM(1)",
    "a\u2028b\u2029c\u200fd\u2066e\ufefff",
    "]]><!--{{7*7}}${7*7}`\\",
    "long" + 3000 * "g",
]
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # no script runs, nothing is fetched
faults = []
trapped = []  # what was fetched


class Trap(http.server.BaseHTTPRequestHandler):
    """Notes who asks."""

    def do_GET(self):
        trapped.append(self.path)
        self.send_response(404)
        self.end_headers()

    def log_message(self, *_):
        pass


def set_trap():
    """A server that names can point to; its port goes into them."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    HOSTILE[:] = [name.replace("PORT", str(server.server_port)) for name in HOSTILE]
    return server


def shown(name):
    """A name as a page shows it: control characters, those that turn text, and what is unseen, by their bytes."""
    return "".join(
        "".join(f"\\x{b:02x}" for b in c.encode()) if ord(c) < 32 or unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c
        for c in name)


def check(good, what):
    if not good:
        faults.append(what)


def find_browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def cell(text):
    return '"' + text.replace('"', '""') + '"'


def write_hostile(folder):
    """Rows of bags whose names, like those of the features, are none that a page would like."""
    rows = [",".join(["bag"] + [cell(name) for name in HOSTILE])]
    shares = ["bag,proportion"]
    for k in range(12):
        bag = cell(f"{HOSTILE[k % len(HOSTILE)]} {k}")
        shares.append(f"{bag},{(k % 5) / 4}")
        for i in range(6):
            values = [((k * 7 + i * 3 + j * 5) % 11) / 10 + (k % 5) / 4 * (j % 2) for j in range(len(HOSTILE))]
            rows.append(",".join([bag] + [f"{v:.3f}" for v in values]))
    (folder / "rows.csv").write_text("\n".join(rows) + "\n")
    (folder / "shares.csv").write_text("\n".join(shares) + "\n")


def make_experiment(bagwise, folder):
    """A run of a few cells, with noise, and with names that look like markup."""
    plan = {
        "name": "small",
        "title": HOSTILE[0],
        "data": [
            {"name": name, "title": HOSTILE[1] + name, "kind": "gaussian", "preset": preset, "target_rows": 60,
             "source_rows": 60, "features": 8}
            for name, preset in (("near", "related"), ("far", "unrelated"))
        ],
        "methods": [
            {"name": "inv-cal", "title": HOSTILE[3], "grid": {"C": [1, 4]}},
            {"name": "mean-map", "title": "MeanMap", "grid": {"lambda": [1, 10]}},
            {"name": "tl-llp", "grid": {"C": [1, 4]}},
        ],
        "bag_sizes": [2, 4],
        "noise": [0, 0.32],
        "folds": 2,
        "selection": {"folds": 2, "combine": "best", "search": "grid"},
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    run(bagwise, "experiment", folder / "plan.json", "--out", folder / "run", "--quiet")
    run(bagwise, "report", folder / "run", "-o", folder / "experiment.html", "--quiet")


def make_pages(bagwise, folder):
    """Names and what each page must have: figures at least, and sections."""
    data = folder / "data"
    run(bagwise, "generate", "--out", data, "--source-rows", 120, "--target-rows", 80, "--test-rows", 10,
        "--features", 12, "--quiet")
    tasks = []
    for task in ("target", "source"):
        rows, shares = data / f"{task}_bags.csv", data / f"{task}_shares.csv"
        run(bagwise, "bag", "--input", data / f"{task}.csv", "--size", 4, "--out-instances", rows,
            "--out-proportions", shares, "--quiet")
        tasks += [f"--{task}", rows, f"--{task}-proportions", shares]
    of_model = ["What it is", "Weights", "Tasks and bags"]
    with_data = ["Verdict"] + of_model + ["Proportions", "Diagnosis"]
    pages = {}

    def page(name, model, figures, sections, *more):
        run(bagwise, "report", model, "-o", folder / f"{name}.html", "--quiet", *more)
        pages[name] = (figures, sections)

    transfer, kernel, tuned = (folder / f"{name}.json" for name in ("transfer", "kernel", "tuned"))
    run(bagwise, "train", "--method", "tl-llp", *tasks, "-o", transfer, "--quiet")
    page("transfer", transfer, 6, with_data, *tasks, "--bootstrap", 5, "--folds", 3)
    page("alone", transfer, 4, of_model)
    run(bagwise, "train", "--method", "tl-llp", "--kernel", "rbf", *tasks, "-o", kernel, "--quiet")
    page("kernel", kernel, 3, with_data, *tasks, "--bootstrap", 0, "--folds", 0)
    run(bagwise, "tune", "--method", "inv-cal", *tasks[:4], "--set", "C=1,4", "--folds", 3, "--combine", "average",
        "-o", tuned, "--quiet")
    page("tuned", tuned, 1, of_model)

    write_hostile(folder)
    hostile = folder / '"><img src=x onerror=alert(1)>.json'
    names = ["--target", folder / "rows.csv", "--target-proportions", folder / "shares.csv"]
    run(bagwise, "train", "--method", "inv-cal", *names, "-o", hostile, "--quiet")
    page("hostile", hostile, 4, with_data, *names, "--bootstrap", 5, "--folds", 3, "--top", 30)
    bare = (folder / "hostile.html").read_text()
    check(bare.count(POLICY) == 1, "the policy is not there once")
    (folder / "bare.html").write_text(bare.replace(POLICY, "img-src *"))
    pages["bare"] = (4, with_data)

    make_experiment(bagwise, folder)
    pages["experiment"] = (4, ["Result", "Accuracy", "By bag size", "Ranks and pairs", "Noise", "Times"])
    return pages


def show(browser, folder, *options):
    """What Chromium prints, with a profile of its own and no way to the network."""
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
               "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--allow-file-access-from-files",
               f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--v=0", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "HOME": str(folder)})
    except subprocess.TimeoutExpired:
        sys.exit(f"Chromium did not end within {PATIENCE} seconds")
    return done.stdout, done.stderr


def check_console(log, what):
    for line in log.splitlines():
        check("CONSOLE" not in line, f"{what}: {line}")


def judge(seen, figures, sections):
    def good(condition, what):
        check(condition, f"{seen['page']} at {seen['width']}, {seen['scheme']}: {what}")

    good(seen["title"] != "", "no title")
    good(seen.get("policy") == POLICY or seen["page"] == "bare", f"policy {seen.get('policy')}")
    if seen["page"] in ("hostile", "bare"):
        for name in HOSTILE:
            good(shown(name)[:50] in seen["text"], f"does not show {name[:60]!r}")
    good(seen["overflow"] <= 0, f"{seen['overflow']} pixels wider than the window")
    good(seen["figures"] >= figures, f"{seen['figures']} figures, expected {figures}")
    good(seen["empty"] == 0, f"{seen['empty']} figures that are not drawn")
    good(seen["downloads"] >= figures, f"{seen['downloads']} downloads, expected {figures}")
    good(seen["marks"] > 10 * figures, f"{seen['marks']} marks")
    good(seen["titled"], "a figure without a title or description")
    for section in sections:
        good(section in seen["sections"], f"no section {section!r} among {seen['sections']}")
    levels = seen["headings"]
    good(levels[0] == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"headings out of order: {levels}")
    good(seen["dangling"] == 0, f"{seen['dangling']} links to nowhere")
    good(all(re.match(r"#s\d|data:text/csv", link) for link in seen["links"]), f"links that lead out: {seen['links']}")
    good(seen["foreign"] == 0, f"{seen['foreign']} elements that have no place here")
    good(seen["requests"] == [], f"asks for {seen['requests']}")
    good(seen["contrast"]["ratio"] >= 4.5, f"contrast {seen['contrast']}")
    good(seen["cut"] == [], f"texts that are cut: {seen['cut']}")
    good(seen["crowded"] == [], f"texts over each other: {seen['crowded']}")
    good(seen["dark"] == (seen["scheme"] == "dark"), "not in the scheme that was asked for")


def check_trap(browser, folder, server):
    """That what the names try works where nothing is escaped."""
    names = "\n".join(f"<p title='{name}'>{name}</p>" for name in HOSTILE if "</script><" in name or "<img src=http" in name)
    (folder / "control.html").write_text(f"<!DOCTYPE html><script>top.canary=0</script>{names}<script>"
                                         "document.body.id = 'canary-' + top.canary</script>")
    dumped, _ = show(browser, folder, "--dump-dom", (folder / "control.html").as_uri())
    check('id="canary-1"' in dumped, "the trap's script did not run where it may")
    check("/i" in trapped, f"the trap was not reached where it may be: {trapped}")
    server.shutdown()


def main():
    bagwise = Path(sys.argv[1]).resolve()
    browser = find_browser()
    if browser is None:
        print("skipped: there is no Chromium here")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        server = set_trap()
        pages = make_pages(bagwise, folder)
        frames = ""
        for name in pages:
            for width, scheme in ((DESK, "light"), (PHONE, "light"), (DESK, "dark")):
                frames += (f'<iframe data-page="{name}" data-scheme="{scheme}" src="{name}.html" '
                           f'style="border:0;width:{width}px;height:900px;color-scheme:{scheme}"></iframe>\n')
        script = (HERE / "measure.js").read_text()
        (folder / "frames.html").write_text(f"<!DOCTYPE html><title>frames</title><body>{frames}<script>{script}</script>")
        dumped, log = show(browser, folder, "--dump-dom", (folder / "frames.html").as_uri())
        found = re.search(r'<body id="seen">(.*)</body>', dumped, re.S)
        if not found:
            sys.exit(f"the pages were not measured\n{dumped[:2000]}\n{log[-3000:]}")
        seen = json.loads(html.unescape(found[1]))
        check(len(seen) == 3 * len(pages), f"{len(seen)} frames of {3 * len(pages)} were looked at")
        check_console(log, "console")
        check('data-canary="1"' not in dumped and trapped == [], f"a name ran a script, or fetched {trapped}")
        for one in seen:
            judge(one, *pages[one["page"]])
        printed = folder / "printed.pdf"
        _, log = show(browser, folder, f"--print-to-pdf={printed}", (folder / "transfer.html").as_uri())
        check_console(log, "printing")
        check_trap(browser, folder, server)
        check(printed.exists() and printed.read_bytes()[:5] == b"%PDF-", f"did not print: {log[-500:]}")
    for fault in faults:
        print(fault)
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
