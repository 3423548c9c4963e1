"""Run every benchmark, or those named: `python -m benchmarks noise`."""

import importlib
import pkgutil
import sys

import benchmarks


def main(asked: list[str]) -> None:
    """Run and write the benchmarks that were asked for, in alphabetical order."""
    known = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_"]
    unknown = sorted(set(asked) - set(known))
    if unknown:
        sys.exit(f"no benchmark is named {', '.join(unknown)}; there are: {', '.join(known)}")
    for name in asked or known:
        print(benchmarks.write(name, importlib.import_module(f"benchmarks.{name}").run()))


if __name__ == "__main__":
    main(sys.argv[1:])
