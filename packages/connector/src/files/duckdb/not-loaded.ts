/** The package of npm with DuckDB, which a project with this kit adds only if it reads DuckDB files. */
const needed = '@duckdb/duckdb-wasm@1.33.1-dev65.0'
/** Errors of Node for a package that is not there. */
const missing = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])

/** Code that is needed could not be read. The file that is read is not the cause: the same can succeed later, or on another machine. */
export class CodeNotLoaded extends Error {
  override readonly name = 'CodeNotLoaded'
  readonly code: string | undefined
  constructor(message: string, cause: Error) {
    super(message, { cause })
    this.code = codeOf(cause)
  }
}

/** Whether an error means that the package with DuckDB is not installed. */
export const isMissing = (error: unknown): error is Error =>
  error instanceof Error && missing.has(codeOf(error) ?? '') && error.message.includes('duckdb-wasm')

/** The error of a package that is not installed. */
export const notInstalled = (cause: Error): CodeNotLoaded =>
  new CodeNotLoaded(`DuckDB files need a package that is not installed. Run npm install ${needed}`, cause)

/** Converts an error of the start of DuckDB: an error of the system means that its module could not be read. */
export function asNotLoaded(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = codeOf(error)
  if (code === undefined) return error
  return isMissing(error) ? notInstalled(error) : new CodeNotLoaded(`DuckDB cannot be loaded (${code}).`, error)
}

const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code
