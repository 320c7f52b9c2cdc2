"""Pure arithmetic on measurements, each rule with its source. Nothing here does I/O, prints or draws.

Modules that read stored results import numpy only inside functions: this saves `show` 0.1 s.
"""
