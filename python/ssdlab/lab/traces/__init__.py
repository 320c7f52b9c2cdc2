"""A trace replayed: mapped onto the drive, recorded in our own form, run."""
