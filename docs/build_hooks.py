"""What `mkdocs build` does beside its own work.

Makes an API page for every folder and module of the package, lists all options, and turns links
that lead out of `docs` (to source, tests, examples, sweep files: they work on a code host) into
links within the site. A link to a file that does not exist is a warning: `--strict` makes it an
error.
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
PACKAGE = ROOT / "src" / "olive_iw"
ORDER = (
    *("simulators", "features", "novelty", "bandits", "search", "rules", "planners", "policy"),
    *("agents", "algorithms", "stats", "runs", "sweeps", "reports", "viewer", "cli"),
    *("errors", "randomness", "registry", "files"),
)
OPTIONS = "<!-- options -->"
"""What a page has in the place of the list of options."""
LINK = re.compile(r"(!?\[[^\]]*\]\()((?:\.\./)+[^)#\s]+)(#[^)\s]*)?(\))")


def parts() -> list[str]:
    """Folders and modules of the package, in the order of the flow; new ones come last."""
    folders = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    modules = [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    known = {name: place for place, name in enumerate(ORDER)}
    return sorted([*folders, *modules], key=lambda name: (known.get(name, len(known)), name))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the API pages into the navigation."""
    pages: list[str | dict[str, str]] = ["api/index.md"]
    config.nav = [*(config.nav or []), {"API": pages + [{n: f"api/{n}.md"} for n in parts()]}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the API pages, and the files outside `docs` that pages link to."""
    for name in parts():
        content = f"# {name}\n\n::: olive_iw.{name}\n"
        files.append(File.generated(config, f"api/{name}.md", content=content))
    for page in files.documentation_pages():
        for target in outside(page.content_string, page.src_uri):
            uri = file_uri(target)
            if uri and files.get_file_from_path(uri) is None:
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


def file_uri(path: Path) -> str | None:
    """Where a file outside `docs` is put in the site; None for the package, which has API pages."""
    if path.is_relative_to(PACKAGE) and path.suffix == ".py":
        return None
    # Not as .md: what is a page on the code host is a file to look at here.
    return f"repository/{path.relative_to(ROOT).as_posix()}.txt"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links that lead out of `docs`, and fill in the lists of modules and of options."""
    up = "../" * page.file.src_uri.count("/")

    def rewrite(link: re.Match[str]) -> str:
        path = resolve(link.group(2), page.file.src_uri)
        if inside_docs(path):
            return link.group(0)
        if not path.is_file():
            log.warning("%s links to %s, which is not there", page.file.src_uri, link.group(2))
            return link.group(0)
        uri = file_uri(path)
        target = up + uri if uri else up + api_address(path)
        return f"{link.group(1)}{target}{link.group(4)}"

    listed = "\n".join(f"- [`olive_iw.{name}`]({name}.md)" for name in parts())
    if OPTIONS in markdown:
        markdown = markdown.replace(OPTIONS, all_options())
    return LINK.sub(rewrite, markdown).replace("<!-- modules -->", listed)


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
    return f"{text} Default: {'; '.join(told)}."


def api_address(path: Path) -> str:
    """Page and anchor of a module of the package."""
    names = list(path.relative_to(PACKAGE).with_suffix("").parts)
    if names[-1] == "__init__":
        names.pop()
    return f"api/{names[0]}.md#{'.'.join(['olive_iw', *names])}"
