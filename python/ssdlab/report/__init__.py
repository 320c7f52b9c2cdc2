"""The report: one self-contained page made from finished run folders.

`page.render` assembles it; `source` reads run folders; `sections` turn Results into figures and tables
without touching a file; `charts` describes what the front end in `web/` draws. Nothing here measures or
depends on a method: each kind of Result names the function that makes its section.
"""
