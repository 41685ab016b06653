/**
 * Why a file cannot be read. `malformed`: it is damaged, incomplete, encrypted or not Parquet. `unsupported`: it has a type that
 * is not supported. `too_large` and `too_many_columns`: it exceeds a limit.
 */
export type ParquetErrorCode = 'malformed' | 'unsupported' | 'too_large' | 'too_many_columns'

/** Every error about a file. Errors of its source are thrown unchanged. */
export class ParquetError extends Error {
  override readonly name = 'ParquetError'
  readonly code: ParquetErrorCode
  /** The problem, as a clause that follows the name of the file. */
  readonly clause: string
  /** The next step, as a sentence; can be empty. */
  readonly advice: string

  constructor(code: ParquetErrorCode, clause: string, advice: string, options?: ErrorOptions) {
    super(`The file ${clause}.${advice && ` ${advice}`}`, options)
    this.code = code
    this.clause = clause
    this.advice = advice
  }
}
