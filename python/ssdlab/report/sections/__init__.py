"""One file for each section of the page. Pure: Results and rows in, figures and tables out."""
