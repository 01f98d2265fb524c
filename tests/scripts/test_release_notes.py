"""A release has one version and its own notes, or there is none."""

import shutil

import pytest

from release_notes import ROOT, main, notes, versions

CHANGELOG = """# Changelog

## Unreleased

- not yet

## 0.3.0 (2030-01-31)

Scores

- more ([a page](docs/results.md), [web](https://example.org))

## 0.2.0

- less
"""
FILES = ("pyproject.toml", "src/olive_iw/__init__.py", "CITATION.cff")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "src" / "olive_iw").mkdir(parents=True)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    version = versions(ROOT)["pyproject.toml"]
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG.replace("0.3.0", version, 1))
    return tmp_path, version


def test_all_files_say_the_same_version():
    assert list(versions(ROOT)) == list(FILES)
    assert len(set(versions(ROOT).values())) == 1


def test_notes_are_the_section_of_the_version_with_links_as_words():
    assert notes(CHANGELOG, "0.3.0") == ("Scores\n\n- more (a page, [web](https://example.org))")
    assert notes(CHANGELOG, "0.2.0") == "- less"
    for version in ("0.4.0", "0.2", "Unreleased 1"):
        with pytest.raises(SystemExit, match="has no section"):
            notes(CHANGELOG, version)


def test_a_tag_of_the_version_prints_them(project, capsys):
    root, version = project
    main([f"v{version}"], root)
    assert capsys.readouterr().out.startswith("Scores\n\n- more")


@pytest.mark.parametrize("tag", ["v9.9.9", "9.9.9", "v1", "main"])
def test_another_tag_is_refused(project, tag):
    with pytest.raises(SystemExit, match=r"has \d|usage"):
        main([tag], project[0])


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_forgotten_is_named(project, name):
    root, version = project
    text = (root / name).read_text(encoding="utf-8")
    (root / name).write_text(text.replace(version, "9.9.9"), encoding="utf-8")
    with pytest.raises(SystemExit, match=f"{name} has|pyproject.toml has 9.9.9"):
        main([f"v{version}"], root)
