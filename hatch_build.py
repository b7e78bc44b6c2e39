"""The project's page on a package index: the README without what only works in a clone."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

IMAGE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)[^)]*\)")


def on_the_index(text):
    """Leave out pictures, and the addresses of links, that are files of a clone."""
    return LINK.sub(r"\1", IMAGE.sub("", text))


class ReadmeHook(MetadataHookInterface):
    """Give the README to the package's metadata."""

    def update(self, metadata):
        """Set the field."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": on_the_index(text)}
