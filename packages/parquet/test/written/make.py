"""Writes the files of this folder with pyarrow and polars: `python make.py`, with both installed.

All files have the rows of `expected.ndjson`, as cells; files of which the name begins with `empty` have none.
"""
import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

here = Path(__file__).parent
count = 60


def each(at, value):
    return None if at % 11 == 10 else value


rows = range(count)
columns = {
    "whole": (pa.int64(), [each(i, (-1) ** i * (2**53 + i) if i % 3 else i) for i in rows]),
    "small": (pa.int16(), [each(i, i * 7 - 300) for i in rows]),
    "unsigned": (pa.uint64(), [each(i, 2**64 - 1 - i) for i in rows]),
    "double": (pa.float64(), [each(i, i / 4 - 7) for i in rows]),
    "single": (pa.float32(), [each(i, i / 8) for i in rows]),
    "truth": (pa.bool_(), [each(i, i % 3 == 0) for i in rows]),
    "text": (pa.string(), [each(i, "ü" * (i % 5) + f"-{i // 4}") for i in rows]),
    "bytes": (pa.binary(), [each(i, bytes([i, 255, 0])[: i % 4]) for i in rows]),
    "fixed": (pa.binary(4), [each(i, i.to_bytes(4, "big")) for i in rows]),
    "decimal": (pa.decimal128(30, 4), [each(i, Decimal(i * 10**20 + i).scaleb(-4, None)) for i in rows]),
    "day": (pa.date32(), [each(i, date(1969, 12, 1) + timedelta(days=i)) for i in rows]),
    "instant": (pa.timestamp("us", tz="UTC"), [each(i, datetime(2026, 1, 1, 0, 0, 0, i, timezone.utc)) for i in rows]),
    "local": (pa.timestamp("ms"), [each(i, datetime(2026, 1, 1, 0, 0, 0, i * 1000)) for i in rows]),
    "list": (pa.list_(pa.int32()), [each(i, [each(j, j) for j in range(i % 13)]) for i in rows]),
    "struct": (
        pa.struct([("a", pa.string()), ("b", pa.list_(pa.struct([("c", pa.int64())])))]),
        [each(i, {"a": each(i + 1, str(i)), "b": [{"c": j} for j in range(i % 3)]}) for i in rows],
    ),
}


def cell(name, value):
    if value is None:
        return None
    if name in ("whole", "unsigned"):
        return value if abs(value) < 2**53 else str(value)
    if name in ("bytes", "fixed"):
        return "\\x" + value.hex()
    if name == "decimal":
        return f"{value:.4f}"
    if name == "day":
        return value.isoformat()
    if name == "instant":
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if name == "local":
        return value.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    if name in ("list", "struct"):
        return json.dumps(value, separators=(",", ":"))
    if name in ("double", "single") and value == int(value):
        return int(value)
    return value


schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])
table = pa.table({name: pa.array(values, kind) for name, (kind, values) in columns.items()}, schema=schema)
expected = [[cell(name, values[i]) for name, (_, values) in columns.items()] for i in rows]
(here / "expected.ndjson").write_text(
    json.dumps({"columns": list(columns), "rows": expected}, ensure_ascii=False, separators=(",", ":")) + "\n"
)

for codec in ["NONE", "SNAPPY", "GZIP", "ZSTD", "LZ4", "BROTLI"]:
    version = "2.0" if codec in ("NONE", "ZSTD", "BROTLI") else "1.0"
    pq.write_table(table, here / f"pyarrow-{codec.lower()}.parquet", compression=codec, row_group_size=25,
                   data_page_version=version, data_page_size=200, write_page_index=codec == "GZIP")
plain = ["whole", "small", "unsigned", "double", "single", "text", "bytes", "fixed", "decimal", "day", "instant", "local"]
encodings = {
    "delta": {"whole": "DELTA_BINARY_PACKED", "small": "DELTA_BINARY_PACKED", "unsigned": "DELTA_BINARY_PACKED",
              "text": "DELTA_BYTE_ARRAY", "bytes": "DELTA_LENGTH_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY",
              "day": "DELTA_BINARY_PACKED", "instant": "DELTA_BINARY_PACKED", "truth": "RLE"},
    "split": {"whole": "BYTE_STREAM_SPLIT", "double": "BYTE_STREAM_SPLIT", "single": "BYTE_STREAM_SPLIT",
              "fixed": "BYTE_STREAM_SPLIT", "text": "DELTA_LENGTH_BYTE_ARRAY", "day": "BYTE_STREAM_SPLIT"},
    "plain": {name: "PLAIN" for name in plain},
}
for name, chosen in encodings.items():
    pq.write_table(table, here / f"pyarrow-{name}.parquet", compression="NONE", use_dictionary=False,
                   column_encoding=chosen, version="2.6", data_page_version="2.0" if name == "delta" else "1.0")
pq.write_table(table, here / "pyarrow-old-times.parquet", use_deprecated_int96_timestamps=False, version="1.0",
               coerce_timestamps=None, store_decimal_as_integer=False)
pq.write_table(table.slice(0, 0), here / "empty-pyarrow.parquet")
frame = pl.from_arrow(table)
for codec in ["uncompressed", "zstd", "lz4"]:
    frame.write_parquet(here / f"polars-{codec}.parquet", compression=codec, row_group_size=25, data_page_size=300)
frame.slice(0, 0).write_parquet(here / "empty-polars.parquet")
