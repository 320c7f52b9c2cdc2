"""Power meters: what one is, those that are known, and what they say while a run goes on."""
