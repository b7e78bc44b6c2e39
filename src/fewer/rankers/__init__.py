"""How good is each feature?"""

from fewer.rankers._fisher import Fisher

__all__ = ["Fisher"]
