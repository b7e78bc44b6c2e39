"""A customer table as people have it, with every trouble, and the truth behind it."""

import csv
import io
from datetime import datetime, timedelta

import numpy as np

N = 240
WORDS = "the a customer called again about late delivery and wants to talk about price next week please hurry".split()


def make_messy(seed=0):
    """Return the table as CSV text, and the truth: what each column means, and which ones carry the target."""
    rng = np.random.default_rng(seed)
    income, spent, share = rng.gamma(4, 800, N), rng.normal(0, 900, N), rng.uniform(0, 100, N)
    weight, signup = rng.normal(70, 12, N), rng.integers(0, 900, N)
    churn = (income / 1600 - share / 25 + rng.normal(0, 0.3, N)) > 0
    dates = [datetime(2023, 1, 1, 8, 30) + timedelta(days=int(day)) for day in signup]
    columns = {
        "customer": [f"C{number:05d}-{number % 97:02d}-{number * 7919 % 1000:03d}" for number in rng.permutation(N)],
        "income": [f"{value:,.0f}" for value in income],
        "spent": [f"${value:,.2f}" if value >= 0 else f"(${-value:,.2f})" for value in spent],
        "share": [f"{value:.1f}%" for value in share],
        "weight": [f"{value:.1f} kg" for value in weight],
        "height": [f"{value:.2f} m" if value < 1.75 else f"{100 * value:.0f} cm" for value in rng.normal(1.75, 0.1, N)],
        "zip": [f"{code:05d}" for code in rng.choice([1067, 4109, 80331, 10115, 20095], N)],
        "signup": [date.strftime("%d/%m/%Y %H:%M") for date in dates],
        "seen": [date.strftime("%Y-%m-%dT%H:%M:%S+02:00") for date in dates],
        "created_at": [str(int((date - datetime(1970, 1, 1)).total_seconds())) for date in dates],
        "comment": [" ".join(rng.choice(WORDS, rng.integers(5, 12))) for _ in range(N)],
        "tags": [
            ";".join(rng.choice(["new", "vip", "web", "shop", "mail", "late"], rng.integers(1, 4), replace=False))
            for _ in range(N)
        ],
        "rare": [
            f"{value:.2f}" if place < 7 else "" for place, value in enumerate(rng.permutation(rng.normal(size=N)))
        ],
        "plan": rng.choice(["basic", "plus", "pro"], N).tolist(),
    }
    paid, (day, month) = rng.gamma(3, 900, N), rng.integers(1, 13, (2, N))
    called, visits = rng.integers(0, 24 * 60, N), rng.integers(0, 6, N)
    columns |= {
        "paid": [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in paid],
        "opened": [f"{d:02d}/{m:02d}/2024" for d, m in zip(day, month, strict=True)],  # the other dates settle it
        "called": [f"{minutes // 60}:{minutes % 60:02d}" for minutes in called],
        "event": [f"{date.timestamp() * 1000:.0f}" for date in dates],
        "visited": [f"{date:%d/%m/%Y}" if place % 2 else f"{date:%Y-%m-%d}" for place, date in enumerate(dates)],
        "member": [f"{number:06d}" for number in rng.permutation(N)],
        "visits": [*map(str, visits[1:]), "x"],
        "price": [f"{'$' if place % 2 else '€'}{value:.2f}" for place, value in enumerate(paid)],
    }
    first = np.array([datetime(2024, m, d).toordinal() for d, m in zip(day, month, strict=True)])
    truth = {"income": np.round(income), "spent": np.round(spent, 2), "share": np.round(share, 1),
             "weight": np.round(weight, 1), "signup": signup + 19358 + 8.5 / 24, "seen": signup + 19358 + 6.5 / 24,
             "created_at": signup + 19358 + 8.5 / 24, "paid": np.round(paid, 2), "called": called / 60,
             "opened": first - datetime(1970, 1, 1).toordinal(),
             "event": np.array(columns["event"], dtype=float)}  # fmt: skip
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*columns, "churn"])
    writer.writerows(zip(*columns.values(), np.where(churn, "yes", "no").tolist(), strict=True))
    return out.getvalue(), truth
