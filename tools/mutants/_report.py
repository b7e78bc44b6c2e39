"""How many were killed, with the interval of Wilson at 95 %, and what survived."""

from collections import Counter
from math import sqrt


def wilson(hits: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    if n == 0:
        return 0.0, 1.0
    share, spread = hits / n, z * z / n
    middle, half = share + spread / 2, z * sqrt(share * (1 - share) / n + spread / (4 * n))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def summary(rows: list[dict], equivalent: dict[str, str]) -> str:
    real = [row for row in rows if row["key"] not in equivalent]
    caught = [row for row in real if row["outcome"] in ("killed", "timeout")]
    low, high = wilson(len(caught), len(real))
    counts, seconds = Counter(row["outcome"] for row in rows), sum(row["cpu"] for row in rows)
    share = f"{len(caught) / max(len(real), 1):.1%} (95 % interval {low:.1%} to {high:.1%})"
    lines = [
        f"{len(rows)} mutants: " + ", ".join(f"{n} {name}" for name, n in counts.most_common()),
        f"{len(rows) - len(real)} are equivalent to the code as it is",
        f"killed: {len(caught)} of {len(real)}, {share}",
        f"processor time: {seconds:.0f} s, {seconds / max(len(rows), 1):.1f} s each",
    ]
    for package in sorted({row["file"].split("/")[2] for row in real}):
        own = [row for row in real if row["file"].split("/")[2] == package]
        dead = sum(row["outcome"] in ("killed", "timeout") for row in own)
        low, high = wilson(dead, len(own))
        lines.append(f"  {package}: {dead} of {len(own)}, {dead / len(own):.1%} ({low:.1%} to {high:.1%})")
    return "\n".join(lines)


def survivors(rows: list[dict], equivalent: dict[str, str]) -> str:
    lines = []
    for row in rows:
        if row["outcome"] in ("killed", "timeout"):
            continue
        reason = equivalent.get(row["key"], "")
        lines.append(f"{row['file']}:{row['line']} {row['scope']} [{row['outcome']}, {row['tests']} tests] {reason}")
        lines.append(f"    {row['diff']}")
    return "\n".join(lines)
