"""dp_accounting: its events and calibrations accounted for by neyman."""
