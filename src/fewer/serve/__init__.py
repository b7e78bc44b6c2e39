"""The workbench: a local web page over the command line and one folder. Needs the extra `fewer[serve]`.

It has no logic of its own. A run is a process of the command line that keeps itself in a folder (`--out`); what the
pages show is read from that folder, so runs that were started in a terminal show up, closing the browser ends nothing,
and a new server finds all that an old one began.
"""

from fewer.serve._app import Settings, make_app
from fewer.serve._guard import Access
from fewer.serve._server import serve

__all__ = ["Access", "Settings", "make_app", "serve"]
