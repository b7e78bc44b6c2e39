"""Run folders that were damaged: refused by name with nothing touched, or gone on with to the undisturbed answer."""

from __future__ import annotations

import random
import shutil

from torture.forking import call, snapshot, told, write_table
from torture.outcomes import Outcome

KINDS = {
    "select": ["--criterion", "knn", "--search", "annealing:effort=0.05", "--folds", "3"],
    "compare": ["-m", "fisher,mrmr", "-e", "tree", "--folds", "3"],
}


def run(n, seed, folder):
    """Damage `n` folders."""
    outcome = Outcome("damaged run folders, resumed")
    table = write_table(folder / "table.csv", n_rows=60, n_features=6)
    whole = {}
    for kind, words in KINDS.items():
        for number in (0, 1):
            command = [
                kind,
                table,
                "--target",
                "y",
                *words,
                "--json",
                "--seed",
                number,
                "--out",
                folder / f"{kind}{number}",
            ]
            code, out, error = call(command, folder)
            if code:
                outcome.add(f"exit code {code}: {error}", kind)
                return outcome
            whole[kind, number] = told(out)
    for case in range(n):
        rng = random.Random(1000 * seed + case)
        kind = rng.choice(list(KINDS))
        place = folder / "damaged"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder / f"{kind}0", place)
        what = damage(place, folder / f"{kind}1", rng)
        before = snapshot(place)
        command = [kind, table, "--target", "y", *KINDS[kind], "--json", "--seed", 0, "--out", place, "--resume"]
        code, out, error = call(command, folder)
        outcome.add(
            _judge(code, out, error, before, place, whole[kind, 0]), f"case {1000 * seed + case} {kind}: {what}"
        )
    return outcome


def _judge(code, out, error, before, place, whole):
    if code == 2 and error.startswith("fewer: ") and error.count("\n") == 1 and not out:
        return "refused" if snapshot(place) == before else "refused, but files were changed"
    if code == 0:
        return "answered" if told(out) == whole else "the answer differs from the undisturbed one"
    return f"exit code {code}: {error[-300:]}"


def damage(place, other, rng):
    """Damage one or two files of a folder; say how."""
    told = []
    for _ in range(rng.choice((1, 1, 2))):
        files = sorted(path for path in place.iterdir() if path.is_file() and path.name != ".fewer-lock")
        if not files:
            break
        path = rng.choice(files)
        content = path.read_bytes()
        at = rng.randrange(len(content) + 1)
        how = rng.randrange(8)
        if how == 0:
            content = content[:at]
        elif how in (1, 2):
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        elif how == 3:
            content = bytearray(content)
            content[at:at] = b"\x00" * rng.randrange(1, 9)
        elif how == 4:
            content = (other / path.name).read_bytes() if (other / path.name).exists() else b""
        elif how == 5:
            content = rng.choice([b"", b"{}", b"[]", b"null", b"PK\x03\x04", b"\xff\xfe", b'{"fingerprint": 1}'])
        elif how == 6:
            path.unlink()
        else:
            digits = [i for i, byte in enumerate(content) if 48 <= byte < 58]
            if digits:
                spot = rng.choice(digits)
                content = content[:spot] + bytes([48 + (content[spot] - 47) % 10]) + content[spot + 1 :]
        if path.exists():
            path.write_bytes(content)
        told.append(f"{path.name} way {how} at {at}")
    return ", ".join(told)
