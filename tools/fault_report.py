"""How a check of files tells what it found: a line per fault, and a count."""


def report_faults(files, root, faults_of):
    """Prints FILE:LINE: MESSAGE for the (line, message) of each file, then "N passed, N failed"; the exit status."""
    bad = 0
    for path in files:
        found = faults_of(path)
        bad += bool(found)
        for line, message in found:
            print(f"{path.relative_to(root)}:{line}: {message}")
    print(f"{len(files) - bad} passed, {bad} failed")
    return 1 if bad or not files else 0
