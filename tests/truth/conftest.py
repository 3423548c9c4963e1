"""Scripts run by hand are not collected: they find each other by their place."""

collect_ignore = ["make_accounting.py", "accounting"]
