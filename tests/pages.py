"""The pages that people read, as tests look for sentences, commands and examples in them."""

from helpers import paths

#: README and the pages of docs/ by name, each as it stands.
PAGES = {
    path.name: path.read_text(encoding="utf-8")
    for path in (paths.ROOT / "README.md", *(paths.ROOT / "docs").glob("*.md"))
}
#: All of them in one line, for sentences that are broken somewhere.
FLAT = " ".join(" ".join(PAGES.values()).split())
