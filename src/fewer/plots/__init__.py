"""Pictures: Display classes in the manner of scikit-learn, one style sheet."""

__all__: list[str] = []
