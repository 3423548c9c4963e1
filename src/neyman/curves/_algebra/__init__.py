"""What is made of guarantees: compositions, groups, samples, the worst and the best."""
