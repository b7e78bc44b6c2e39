"""What a part of the torture suite counts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    """Tried, answered, refused, failed."""

    name: str
    tried: int = 0
    answered: int = 0
    scored: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, how: str, about: str = "") -> None:
        """Count one case: answered, scored (answered and scored again), refused, or anything else: a failure."""
        self.tried += 1
        if how in ("answered", "scored"):
            self.answered += 1
            self.scored += how == "scored"
        elif how == "refused":
            self.refused += 1
        else:
            self.failures.append(f"{about}: {how}")

    def merge(self, other: Outcome) -> None:
        self.tried += other.tried
        self.answered += other.answered
        self.scored += other.scored
        self.refused += other.refused
        self.failures += other.failures
        self.notes += other.notes

    def __str__(self) -> str:
        return (
            f"{self.name:<34} {self.tried:>6,} tried {self.answered:>6,} answered {self.refused:>6,} refused "
            f"{len(self.failures):>4,} failed  {'; '.join(self.notes)}"
        )

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Outcome:
        return cls(**json.loads(path.read_text(encoding="utf-8")))
