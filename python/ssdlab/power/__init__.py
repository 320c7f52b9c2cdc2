"""Power meters: their interface, the supported kinds, and reading them during a run."""
