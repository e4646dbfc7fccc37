"""Write the JSON from which the package reads hardware_catalog.yaml fast; run after every change of that file."""

from roofline.catalog.hardware import COMPILED, catalog_path, compiled

COMPILED.write_text(compiled(catalog_path().read_bytes()), encoding="utf-8")
