"""Real tables, damaged at random: every one is either read and selected from, or refused in one line."""

import gzip
import random
from collections import Counter

import fewer
from fewer.datasets import load
from fewer.io import TableError, read_table
from fewer.problem import InputError

N_CASES = 500
SEPARATORS = (b",", b";", b"\t", b"|")
TOKENS = (
    b"", b" ", b"?", b"NA", b"nan", b"inf", b"-inf", b"1e400", b"1e308", b"1e-320", b"-1", b"0x1F", b"1,5", b"true",
    b"False", b"2020-01-31", b"2020-02-31", b'"', b'""', b'"x', b"'", b"\\", b"%", b"{0 1}", b"@data", b"#", b"\x00",
    b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b"\n\n", b",", b";", b"\t", "日本".encode(),
    b"x" * 300,
)  # fmt: skip


def originals():
    """Small tables as people keep them: numbers, words, missing, quotes, ARFF."""
    texts = []
    for name in ("cleve", "crx", "glass", "liver", "monk1_train", "sonar"):
        data = load(name)
        step = max(len(data.y) // 40, 1)
        frame = data.X.with_columns(target=data.y.astype(str))[::step][:40]
        texts.append(frame.write_csv().encode())
    texts.append(b'"a","b, c","target"\n' + b"".join(b'%d,"x ""%d""",%d\n' % (i, i % 3, i % 2) for i in range(30)))
    rows = b"".join(b"%d,'l %d',%s\n" % (i, i % 2, b"yes" if i % 3 else b"no") for i in range(30))
    texts.append(
        b"@relation r\n@attribute a numeric\n@attribute b {'l 0','l 1'}\n@attribute target {no,yes}\n@data\n" + rows
    )
    return texts


def damage(text, rng):
    """Change a text as editors, spreadsheets, broken disks and people in a hurry do."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        lines = text.split(b"\n")
        at, line = rng.randrange(len(text) + 1), rng.randrange(len(lines))
        cells = lines[line].split(b",")
        cell = rng.randrange(len(cells))
        kind = rng.randrange(15)
        if kind == 0:
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
        elif kind == 1:
            text = text[:at] + text[at + rng.randrange(1, 40) :]
        elif kind == 2:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif kind == 3:
            text = text[:at]
        elif kind == 4:
            text = b"\n".join(lines[:line] + lines[line + 1 :])
        elif kind == 5:
            text = b"\n".join(lines[: line + 1] + lines[line:])
        elif kind == 6:
            text = text.replace(b",", rng.choice(SEPARATORS))
        elif kind in (7, 8, 9):
            cells[cell] = rng.choice(TOKENS)
            lines[line] = b",".join(cells)
            text = b"\n".join(lines)
        elif kind == 10:
            token = rng.choice(TOKENS)
            lines = [b",".join([token if i == cell else c for i, c in enumerate(row.split(b","))]) for row in lines]
            text = b"\n".join(lines[:1] + lines[1:])
        elif kind == 11:
            text = text.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n", b",\n")))
        elif kind == 12:
            text = b"\n".join(lines[: rng.randrange(1, 8)])
        elif kind == 13:
            text = text.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-8-sig", "cp1252")), "replace")
        else:
            rng.shuffle(lines)
            text = b"\n".join(lines)
    if rng.random() < 0.1:
        text = gzip.compress(text)
        if rng.random() < 0.5:
            at = rng.randrange(len(text))
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
    return text


def attempt(path, rng):
    """Read and select, cheaply; say how it ended."""
    try:
        problem = read_table(
            path,
            rng.choice(("target", "target", -1, 0)),
            task=rng.choice((None, None, None, "classification", "regression")),
            encoding=rng.choice(("utf-8", "utf-8", "utf-8", "latin-1")),
        )
        if rng.random() < 0.5 and problem.n_samples <= 60 and problem.n_features <= 20:
            selector = fewer.SubsetSelector(n_features_to_select=(1, 2), random_state=0)
        else:
            selector = fewer.RankSelector(n_features_to_select=min(2, problem.n_features), random_state=0)
        selector.fit_problem(problem)
    except InputError as error:
        one_line = "\n" not in str(error) or isinstance(error, TableError)  # which lists all troubles at once
        return "refused" if str(error) and one_line else f"{path.name}: {error}"
    except Exception as error:
        return f"{path.name}: {error!r}"
    assert len(problem.names) == len(problem.kinds) == problem.n_features
    return "selected" if 1 <= selector.support_.sum() <= 2 else f"{path.name}: {selector.support_.sum()} features"


def test_damaged_tables_never_end_in_a_traceback(tmp_path):
    texts = originals()
    outcomes = Counter()
    for seed in range(N_CASES):
        rng = random.Random(seed)
        path = tmp_path / f"case{seed}.csv"
        path.write_bytes(damage(rng.choice(texts), rng))
        outcomes[attempt(path, rng)] += 1
    assert outcomes.keys() == {"selected", "refused"}
    # Neither answer may be the only one, or nothing was tested.
    assert outcomes["selected"] > 50
    assert outcomes["refused"] > 50


def test_undamaged_tables_are_selected_from(tmp_path):
    for number, text in enumerate(originals()):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(text)
        for seed in range(3):
            problem = read_table(path, "target")
            fewer.SubsetSelector(n_features_to_select=2, random_state=seed).fit_problem(problem)
