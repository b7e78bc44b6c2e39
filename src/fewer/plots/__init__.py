"""Pictures: Display classes in the manner of scikit-learn, one style sheet."""

from fewer.plots._classifiability import ClassifiabilityDisplay

__all__ = ["ClassifiabilityDisplay"]
