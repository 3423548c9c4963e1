"""From cumulants to certified tails and profiles, by lines in the complex plane."""
