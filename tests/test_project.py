"""Files of the project that must agree with one another."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
NAME = re.compile(r"^[A-Za-z0-9_.\-\[\]]+")


def pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def table(requirements):
    found = {}
    for line in requirements:
        name = NAME.match(line)[0]
        found[name.lower().replace("_", "-")] = line[len(name) :].strip()
    return found


def environment():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    pip = next(entry["pip"] for entry in listed if isinstance(entry, dict))
    return [entry for entry in listed if isinstance(entry, str)], pip


def test_environment_matches_pyproject():
    conda, pip = environment()
    project = pyproject()["project"]
    wanted = table(project["dependencies"]) | {"python": project["requires-python"], "pip": ""}
    renamed = {("matplotlib-base" if k == "matplotlib" else k): v for k, v in wanted.items()}
    found = table(conda)
    assert found == {name: renamed[name] for name in renamed if name != "bpe-openai"}
    assert pip == ["-e .[lm]"]  # brings the rest


@pytest.mark.slow
def test_conda_can_hand_its_pip_part_on(tmp_path):
    """Conda writes it as a requirements file and runs pip beside environment.yml."""
    _, pip = environment()
    listed = tmp_path / "condaenv.requirements.txt"
    listed.write_text("\n".join(pip) + "\n", encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "--dry-run", "-r", str(listed)]
    done = subprocess.run(install, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "corecurves" in done.stdout


def test_every_core_dependency_is_imported_or_explained():
    explained = {"h5py": "h5netcdf does not bring it", "ipykernel": "reports run in its kernel",
                 "ipywidgets": "fixed by the design", "seaborn": "fixed by the design"}  # fmt: skip
    modules = {"pyyaml": "yaml", "bpe-openai": "bpe_openai", "lazy-loader": "lazy_loader",
               "beautifulsoup4": "bs4", "markdown-it-py": "markdown_it"}  # fmt: skip
    source = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "corecurves").rglob("*.py"))
    for name in table(pyproject()["project"]["dependencies"]):
        module = modules.get(name, name)
        used = re.search(rf"^\s*(?:import|from) {module}\b|\"{module}\"", source, re.MULTILINE)
        assert used or name in explained, name


def test_readme_has_the_two_commands():
    commands = [
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("python3 -m venv")
    ]
    assert len(commands) == 2
    assert commands[0].endswith("corecurves demo")
    assert commands[1].endswith("pytest")


def test_nothing_in_the_tree_names_a_machine():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    own = Path(__file__).name
    for name in listed:
        path = ROOT / name
        if path.suffix in (".png",) or path.name == own or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(?:root|work)/\w", text), name


@pytest.mark.slow
def test_a_wheel_carries_the_data_and_finds_it(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation",
         "-w", str(tmp_path), str(ROOT)],
        check=True, timeout=200,
    )  # fmt: skip
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "site")
    names = {str(p.relative_to(tmp_path / "site")) for p in (tmp_path / "site").rglob("*")}
    assert "corecurves/_bundled/curricula/public" in names
    assert "corecurves/_bundled/notebooks/sample_efficiency.ipynb" in names
    assert "corecurves/reports/template/page.html.j2" in names
    assert not any("__init__.py" in name for name in names if "_bundled" in name)
    code = (
        "import corecurves as cc; from corecurves.bundled import bundled_path;"
        "print(len(cc.load_curricula('public')), bundled_path('curricula'))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, timeout=100,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    count, place = result.stdout.split()
    assert int(count) >= 16
    assert "_bundled" in place
