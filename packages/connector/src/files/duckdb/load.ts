import { isMissing, notInstalled } from './not-loaded.ts'

/**
 * Loads the reader of DuckDB files, and DuckDB with it.
 * @throws CodeNotLoaded if the package with DuckDB is not installed
 */
export async function loadDuckdbReader(): Promise<typeof import('../duckdb-read.ts')> {
  try {
    return await import('../duckdb-read.ts')
  } catch (error) {
    throw isMissing(error) ? notInstalled(error) : error
  }
}
