"""HTML pages: the jinja2 templates in this folder, their styles and scripts, and the function that fills them.

Every page is one file that loads nothing from elsewhere: templates include their `.css` and `.js`.
"""

import functools
import os

from onax._ground import lazy


@functools.cache
def _environment():
    """Values are escaped unless a template says `|safe`; a name that the caller did not pass is an error."""
    environment = lazy.jinja2.Environment(
        loader=lazy.jinja2.FileSystemLoader(os.path.dirname(__file__)),
        autoescape=True,
        undefined=lazy.jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {}  # jinja2 sorts keys by default; ours are in the order to be shown
    return environment


def render_page(template, **values):
    """The text of a page: the template (the name of a file in this folder) filled with the values."""
    return _environment().get_template(template).render(values)
