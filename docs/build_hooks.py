"""What `mkdocs build` does beside its own work.

Lists all options, and turns links that lead out of `docs` (to source, tests, examples, sweep
files: they work on a code host) into links within the site. A link to a file that does not exist is
a warning: `--strict` makes it an error.
"""

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from olive_iw.algorithms import ALGORITHMS
from olive_iw.cli.arguments import Argument
from olive_iw.cli.run import settings_groups

log = logging.getLogger("mkdocs.hooks.olive_iw")
ROOT = Path(__file__).parents[1]
OPTIONS = "<!-- options -->"
"""What a page has in the place of the list of options."""
LINK = re.compile(r"(!?\[[^\]]*\]\()((?:\.\./)+[^)#\s]+)(#[^)\s]*)?(\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside `docs` that pages link to."""
    for page in files.documentation_pages():
        for target in outside(page.content_string, page.src_uri):
            uri = file_uri(target)
            if files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, content=target.read_bytes()))
    return files


def outside(markdown: str, uri: str) -> list[Path]:
    """Existing files outside `docs` that a page links to."""
    found = [resolve(link.group(2), uri) for link in LINK.finditer(markdown)]
    return [path for path in found if path.is_file() and not inside_docs(path)]


def resolve(link: str, uri: str) -> Path:
    """File that a link of a page means."""
    return (ROOT / "docs" / uri).parent.joinpath(link).resolve()


def inside_docs(path: Path) -> bool:
    """Whether a file is part of the site anyway."""
    return path.is_relative_to(ROOT / "docs")


def file_uri(path: Path) -> str:
    """Where a file outside `docs` is put in the site."""
    # Not as .md: what is a page on the code host is a file to look at here.
    return f"repository/{path.relative_to(ROOT).as_posix()}.txt"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links that lead out of `docs`, and fill in the list of options."""
    up = "../" * page.file.src_uri.count("/")

    def rewrite(link: re.Match[str]) -> str:
        path = resolve(link.group(2), page.file.src_uri)
        if inside_docs(path):
            return link.group(0)
        if not path.is_file():
            log.warning("%s links to %s, which is not there", page.file.src_uri, link.group(2))
            return link.group(0)
        return f"{link.group(1)}{up}{file_uri(path)}{link.group(4)}"

    if OPTIONS in markdown:
        markdown = markdown.replace(OPTIONS, all_options())
    return LINK.sub(rewrite, markdown)


def all_options() -> str:
    """List the settings of all algorithms by part, with the defaults of each."""
    parts: dict[str, dict[str, list[tuple[str, Argument]]]] = {}
    for algorithm in ALGORITHMS:
        for group in settings_groups(["--algorithm", algorithm]):
            for it in group.arguments:
                parts.setdefault(group.title, {}).setdefault(it.usage, []).append((algorithm, it))
    lines = []
    for title, options in parts.items():
        lines.append(f"\n## {title}\n")
        lines += [f"- `{usage}`: {of_option(found)}" for usage, found in options.items()]
    return "\n".join(lines)


def of_option(found: list[tuple[str, Argument]]) -> str:
    """Say what an option does, and what counts where it is not given."""
    by_default: dict[str, list[str]] = {}
    for algorithm, argument in found:
        by_default.setdefault(argument.shown.default, []).append(algorithm)
    (most, _), *others = sorted(by_default.items(), key=lambda item: -len(item[1]))
    told = [f"`{most}`", *(f"`{value}` of {', '.join(of)}" for value, of in others)]
    text = found[0][1].text.replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;")
    have = {algorithm for algorithm, _ in found}
    lack = [algorithm for algorithm in ALGORITHMS if algorithm not in have]
    of = f"Of {', '.join(sorted(have))}. " if len(have) < len(lack) else ""
    of = of or (f"Not of {', '.join(lack)}. " if lack else "")
    return f"{text} {of}Default: {'; '.join(told)}."
