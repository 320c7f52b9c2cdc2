"""The report: one self-contained page made from finished run folders.

`page.render` assembles it; `source` reads run folders; `sections` turn Results into figures and tables
without touching a file; `charts` is what the front end in `web/` is asked to draw. Nothing here measures, and
nothing knows a method: a kind of Result names its section.
"""
