"""The review methods of ssdlab itself: a folder each, or one for a family of them."""
