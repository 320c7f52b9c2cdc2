"""The review methods that come with ssdlab: a folder for each method, or for a family of methods."""
