"""Writes what a wheel is made of and was tried with, as CycloneDX 1.6: `make dist` runs it.

It runs in the environment into which the wheel was installed, and needs nothing else. The versions
are those with which the README's examples ran.

    python .ci/bill_of_materials.py dist/neyman-0.1.0-py3-none-any.whl
"""

import hashlib
import json
import re
import sys
import uuid
from importlib.metadata import Distribution, distributions
from pathlib import Path

# They come with the environment, and not with the wheel.
TOOLS = {"pip", "setuptools", "wheel"}
_NAME = re.compile(r"^[A-Za-z0-9._-]+")


def key(name: str) -> str:
    """Return a name as the registry compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def reference(found: Distribution) -> str:
    """Return the address of a package in the registry."""
    return f"pkg:pypi/{key(found.name)}@{found.version}"


def component(found: Distribution, kind: str) -> dict[str, object]:
    """Return what is said of one package."""
    said: dict[str, object] = {
        "type": kind,
        "bom-ref": reference(found),
        "name": found.name,
        "version": found.version,
        "purl": reference(found),
    }
    if expression := found.metadata.get("License-Expression"):
        said["licenses"] = [{"expression": expression}]
    elif (text := found.metadata.get("License")) and len(text) < 60:
        said["licenses"] = [{"license": {"name": text}}]
    return said


def bill(wheel: Path) -> dict[str, object]:
    """Return the bill of materials of a wheel that is installed here.

    Raises:
        KeyError: if it is not.
    """
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    here = {key(one.name): one for one in distributions() if key(one.name) not in TOOLS}
    root = here.pop(key(wheel.name.split("-")[0]))
    needs = {}
    for one in (root, *here.values()):
        names = {key(_NAME.match(line)[0]) for line in one.requires or ()}
        needs[reference(one)] = sorted(reference(here[name]) for name in names & here.keys())
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same wheel and the same packages give the same bill.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest + str(sorted(needs)))}",
        "version": 1,
        "metadata": {
            "component": component(root, "library")
            | {"hashes": [{"alg": "SHA-256", "content": digest}]}
        },
        "components": [component(here[name], "library") for name in sorted(here)],
        "dependencies": [{"ref": ref, "dependsOn": on} for ref, on in sorted(needs.items())],
    }


if __name__ == "__main__":
    built = Path(sys.argv[1])
    name, version, *_ = built.name.split("-")
    target = built.with_name(f"{name}-{version}.cdx.json")
    target.write_text(json.dumps(bill(built), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{target}\n")
