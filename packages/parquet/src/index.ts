/** Names and limits; `./read` and `./write` load the libraries. */
export { parquetBounds } from './bounds.ts'
export { type ColumnType, isJsonType, type StructField } from './column-types.ts'
export { ParquetError, type ParquetErrorCode } from './parquet-error.ts'
export type { Cell, Row, RowLimits } from './rows.ts'
export type { ParquetSource } from './source.ts'
