"""What a drive tells of itself while it works: a capability of `Drive`, real or simulated."""
