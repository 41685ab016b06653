import { fileURLToPath } from 'node:url'

/** The WebAssembly module of DuckDB, as an absolute path. The build of the published package replaces this module. */
export const moduleFile = (): string => fileURLToPath(import.meta.resolve('@duckdb/duckdb-wasm/dist/duckdb-eh.wasm'))
