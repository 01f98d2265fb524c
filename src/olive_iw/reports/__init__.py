"""Reports: tables, plots, a page, comparisons, verification and videos of finished runs."""
