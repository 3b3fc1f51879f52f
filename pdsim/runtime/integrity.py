"""Damage in NetCDF files: a checksum in every array, and one digest of all that a group holds.

HDF5's Fletcher32 filter checks each chunk of numbers when it is read, by any library. The filter
knows no text, no scalars and no attributes, so each group has the SHA-256 of its whole content as
an attribute besides.
"""

import hashlib
import json
from typing import Any

import numpy as np
import xarray as xr

# Attribute of a group that holds the SHA-256 of the rest of it.
DIGEST = "content_sha256"
# Kinds of NumPy's types whose arrays the filter takes.
_NUMBERS = "biuf"


def encoding(data: xr.Dataset) -> dict[str, dict[str, bool]]:
    """Checksums for the arrays of a group, as ``to_netcdf`` takes them."""
    return {
        str(name): {"fletcher32": True}
        for name, variable in data.variables.items()
        if variable.dtype.kind in _NUMBERS and variable.size and variable.ndim
    }


def digest(data: xr.Dataset) -> str:
    """SHA-256 of names, dimensions, values and attributes of a group, 64 hexadecimal digits."""
    found = hashlib.sha256()
    found.update(_attributes(data.attrs))
    for name in sorted(map(str, data.variables)):
        variable = data.variables[name]
        found.update(f"{name} {variable.dims} {variable.shape} ".encode())
        found.update(_attributes(variable.attrs))
        values = np.ascontiguousarray(variable.values)
        if values.dtype.kind in _NUMBERS:
            found.update(str(values.dtype.newbyteorder("=")).encode())
            found.update(values.data if values.size else b"")
        else:
            found.update(json.dumps(list(map(str, values.ravel()))).encode())
    return found.hexdigest()


def _attributes(attributes: dict[Any, Any]) -> bytes:
    """Attributes as text; a list of one value is the value, as NetCDF has it."""
    plain = {str(k): np.ravel(v).tolist() for k, v in attributes.items() if k != DIGEST}
    return json.dumps(plain, sort_keys=True).encode()


def sealed(data: xr.Dataset) -> xr.Dataset:
    """A group with its digest."""
    return data.assign_attrs({DIGEST: digest(data)})


def is_whole(data: xr.Dataset) -> bool:
    """Whether a group that was read holds what was written; not where it has no digest."""
    return data.attrs.get(DIGEST) == digest(data)
