"""Pure arithmetic on measurements, each rule with its source. Nothing here does I/O, prints or draws.

Modules needed to read stored results import numpy only in functions, which saves `show` 0.1 s.
"""
