"""What the build does beside hatchling's own work: the README as a package's page can show it."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")
"""A link or picture (`!`), its text, and a path in the repository."""
WITHOUT_ADDRESS = "\nThe files that this page names, and its pictures, are in the source.\n"


def package_page(readme: str, address: str | None = None) -> str:
    """Return a README for where the repository's files are not: on the page of a package.

    Links and pictures lead to the files at the project's `address`; as long as there is none, a
    link is its text, and a picture its description.
    """

    def rewrite(found: re.Match[str]) -> str:
        picture, text, path = found.groups()
        if address is not None:
            kind = "raw" if picture else "blob"
            return f"{picture}[{text}]({address.rstrip('/')}/{kind}/HEAD/{path})"
        if picture and "badge-" in path:
            return ""  # what it says stands beside the page
        return f"*(picture: {text})*" if picture else text

    return LINK.sub(rewrite, readme) + ("" if address else WITHOUT_ADDRESS)


class PackagePage(MetadataHookInterface):
    """Makes the long description of the wheel."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the README, made fit for it, into the metadata of the project."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = package_page(readme, metadata.get("urls", {}).get("Source"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
