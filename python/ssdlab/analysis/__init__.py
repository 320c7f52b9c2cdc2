"""Pure arithmetic on measurements, each rule with its source. Nothing here does I/O, prints or draws.

What a stored result is read with imports numpy in its functions: `show` would pay 0.1 s for arithmetic
that was done when the run ended.
"""
