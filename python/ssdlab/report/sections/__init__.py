"""The sections of the page, one per file. Pure: Results and rows in, figures and tables out."""
