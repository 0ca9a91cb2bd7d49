"""Small folders in which commands are run: what is put there, what is there afterwards."""

import io
import os
import pathlib
import random
import shutil
import tarfile
import tempfile

# Memory, where there is some: a sync of a disk takes longer than everything else here.
PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


GROUPS = """alt.atheism comp.graphics comp.os.ms-windows.misc comp.sys.ibm.pc.hardware comp.sys.mac.hardware comp.windows.x
misc.forsale rec.autos rec.motorcycles rec.sport.baseball rec.sport.hockey sci.crypt sci.electronics sci.med sci.space
soc.religion.christian talk.politics.guns talk.politics.mideast talk.politics.misc talk.religion.misc""".split()


def tables(seed=1, bags=6, rows=4):
    """A table of rows in bags, its proportions, and the same rows with labels, as bytes by file name."""
    rng = random.Random(seed)
    table, shares, labels = ["bag,x,y"], ["bag,proportion"], ["label,x,y"]
    for k in range(bags):
        positives = k % (rows + 1)
        shares.append(f"b{k},{positives / rows}")
        for i in range(rows):
            x, y = rng.gauss(1 if i < positives else -1, 0.5), rng.gauss(0, 1)
            table.append(f"b{k},{x:.3f},{y:.3f}")
            labels.append(f"{int(i < positives)},{x:.3f},{y:.3f}")
    named = {"t.csv": table, "p.csv": shares, "labelled.csv": labels}
    return {name: ("\n".join(lines) + "\n").encode() for name, lines in named.items()}


def newsgroups(seed=3, messages=2, more=None):
    """A tar archive in the form of 20 Newsgroups, of nonsense; `more`: the name of a further member, and whether it is a link."""
    rng = random.Random(seed)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for group in GROUPS:
            for i in range(messages):
                words = " ".join(f"w{rng.randrange(12)}" for _ in range(8))
                data = f"Newsgroups: {group}\nSubject: x\n\n{words}\n".encode()
                member = tarfile.TarInfo(f"20news-19997/{group}/{100 + i}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        if more is not None:
            member = tarfile.TarInfo(more[0])
            if more[1]:
                member.type, member.linkname = tarfile.SYMTYPE, "../../../precious/file"
            archive.addfile(member, io.BytesIO())
    return packed.getvalue()


def contents(folder):
    """Every file below the folder with its bytes; a folder that is empty has None, a link where it leads."""
    out = {}
    for at, folders, files in os.walk(folder):
        inside = os.path.relpath(at, folder)
        for name in files + [f for f in folders if os.path.islink(os.path.join(at, f))]:
            path = os.path.join(at, name)
            key = os.path.normpath(os.path.join(inside, name))
            out[key] = "-> " + os.readlink(path) if os.path.islink(path) else pathlib.Path(path).read_bytes()
        if not folders and not files and inside != ".":
            out[inside] = None
    return out


def restore(folder, wanted):
    """Makes the folder hold exactly these files."""
    folder = str(folder)
    there = contents(folder)
    if there == wanted:
        return
    for name in there.keys() - wanted.keys():
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            continue
        top = os.path.join(folder, name.split(os.sep)[0])
        if os.path.isdir(top) and not os.path.islink(top) and not any(
                w.split(os.sep)[0] == name.split(os.sep)[0] for w in wanted):
            shutil.rmtree(top)
        elif os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    for name, data in wanted.items():
        if there.get(name) != data:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def make_folder():
    return tempfile.mkdtemp(prefix="bagwise-faults-", dir=PLACE)
