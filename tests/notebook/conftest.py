"""A notebook, run once in a kernel of its own, as `pip install jupyterlab` sets one up."""

from importlib.util import find_spec
from warnings import catch_warnings, simplefilter

import pytest

# Stands for a kernel without ipywidgets, which JupyterLab does not bring along, also where some
# other package has brought them.
_CLEAN = "import sys; sys.modules['ipywidgets'] = None"


class Cells(dict):
    """The cells of a notebook by name; after it was run, what each of them shows."""

    def shown(self, name):
        """What a cell shows, by its type."""
        assert not self.errors(name), self.errors(name)
        found = [out["data"] for out in self[name] if "data" in out]
        assert len(found) == 1, self[name]
        return found[0]

    def printed(self, name):
        assert not self.errors(name), self.errors(name)
        return "".join(out["text"] for out in self[name] if out["output_type"] == "stream")

    def errors(self, name):
        return [out["evalue"] for out in self[name] if out["output_type"] == "error"]


@pytest.fixture(scope="session")
def run_cells(missing, tmp_path_factory):
    """Run cells in a new kernel, one after the other, and return what they show."""
    for package in ("ipykernel", "nbclient"):
        if find_spec(package) is None:
            missing(package)

    def run(cells):
        with catch_warnings():
            # Those are not ours.
            simplefilter("ignore")
            import nbclient
            from nbformat import v4

            folder = tmp_path_factory.mktemp("notebook")
            book = v4.new_notebook(cells=[v4.new_code_cell(c) for c in (_CLEAN, *cells.values())])
            with pytest.MonkeyPatch.context() as patch:
                # No profile, no start-up file and no kernel of whoever runs the tests.
                for name in ("IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
                    patch.setenv(name, str(folder / name.lower()))
                patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
                client = nbclient.NotebookClient(
                    book,
                    timeout=300,
                    kernel_name="python3",
                    allow_errors=True,
                    resources={"metadata": {"path": str(folder)}},
                )
                client.execute()
        return Cells(zip(cells, (cell["outputs"] for cell in book["cells"][1:]), strict=True))

    return run
