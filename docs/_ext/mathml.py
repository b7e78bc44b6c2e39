"""Formulas as MathML, which browsers draw by themselves: no script, no fonts, no network."""

import latex2mathml.converter
from docutils import nodes


def visit_inline(self, node):
    self.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def visit_block(self, node):
    formula = latex2mathml.converter.convert(node.astext(), display="block")
    self.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app):
    from sphinx.util.math import wrap_displaymath  # noqa: F401  (Sphinx knows formulas)

    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("config-inited", lambda app, config: setattr(config, "html_math_renderer", "mathml"))
    return {"parallel_read_safe": True}
