"""The configuration of Sphinx for the site. `scripts/make-site` collects the pages, and runs Sphinx."""

import hashlib
import re
from pathlib import Path

import mermaidx
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

SITE = Path(__file__).parent
HEADER = (SITE.parents[1] / "include" / "backhaul.h").read_text(encoding="utf-8")

project = "Backhaul"
author = "the authors of Backhaul"
# The header is the one place that has the version.
release = version = ".".join(re.findall(r"define BH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", HEADER))

extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
# Each heading has an anchor, with the same name as on GitHub.
myst_heading_anchors = 6
myst_fence_as_directive = ["mermaid"]
# Blocks of code without a language are output, or samples that are no program.
highlight_language = "text"

html_theme = "furo"
html_title = f"Backhaul {version}"
html_static_path = [str(SITE / "static")]
html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = False
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = "$ "


class Mermaid(SphinxDirective):
    """Draws a Mermaid diagram when the site is built. So the reader's browser needs no script for diagrams, and the
    words of a diagram can be searched and printed. site.css has the colours of light and dark pages."""

    has_content = True

    def run(self):
        source = "\n".join(self.content)
        # Identifiers must be unique in a page with several diagrams, and the same in each build.
        name = "diagram-" + hashlib.sha256(source.encode()).hexdigest()[:12]
        drawing = self.drawing(source, name).replace("my-svg", name)
        # Letters keep a legible size: a wide diagram is scrolled, and does not shrink to the width of the page.
        width = float(re.search(r'viewBox="\S+ \S+ (\S+)', drawing)[1])
        drawing = drawing.replace(' style="', f' style="min-width: {width * 0.75:.0f}px; ', 1)
        return [nodes.raw("", f'<div class="diagram" role="img" tabindex="0">{drawing}</div>', format="html")]

    def drawing(self, source, name):
        """Keeps drawings in a cache, because a drawing takes seconds."""
        cached = Path(self.env.doctreedir, f"{name}.svg")
        if not cached.exists():
            cached.write_text(mermaidx.render(source, theme="neutral").svg(), encoding="utf-8")
        return cached.read_text(encoding="utf-8")


def setup(app):
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True}
