"""Pure arithmetic on measurements, each rule with its source. Nothing here does I/O, prints or draws."""
