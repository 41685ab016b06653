/** How Snowflake calls a type of DuckDB. */
export function typeOf(type: string): { type: string; scale?: number; precision?: number } {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  if (scale !== undefined) return { type: 'fixed', precision: Number(precision), scale: Number(scale) }
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return { type: 'fixed', precision: 38, scale: 0 }
  if (type === 'DOUBLE' || type === 'FLOAT') return { type: 'real' }
  if (type === 'TIMESTAMP') return { type: 'timestamp_ntz', scale: 9 }
  return { type: { BOOLEAN: 'boolean', DATE: 'date', TIME: 'time', BLOB: 'binary' }[type] ?? 'text' }
}

/** A value as Snowflake writes it. */
export function rawOf(text: string | null, type: string): string | null {
  if (text === null) return null
  switch (type) {
    case 'date':
      return String(Date.parse(`${text}T00:00:00Z`) / 86_400_000)
    case 'time':
      return secondsOf(`1970-01-01T${text}`)
    case 'timestamp_ntz':
      return secondsOf(text.replace(' ', 'T'))
    case 'binary': {
      // DuckDB writes bytes that are not printable as \x and two digits.
      const bytes = text.replace(/\\x(..)|(.)/gs, (_, hex?: string, plain?: string) =>
        hex === undefined ? Buffer.from(plain ?? '').toString('hex') : hex,
      )
      return bytes.toUpperCase()
    }
    default:
      return text
  }
}

/** Seconds since 1970 with nine decimal places, below 0 before. */
function secondsOf(local: string): string {
  const [second = '', fraction = ''] = local.split('.')
  const nanoseconds = BigInt(Date.parse(`${second}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
  const digits = String(nanoseconds < 0n ? -nanoseconds : nanoseconds).padStart(10, '0')
  return `${nanoseconds < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

/**
 * The result of a MERGE: how many rows it inserted, updated and deleted, as far as it has a clause for that.
 * @param done what it did with each row
 */
export function mergeResultOf(statement: string, done: readonly string[]): { rowType: object[]; rows: string[][] } {
  const actions = ['insert', 'update', 'delete'].filter((action) => statement.includes(`then ${action}`))
  const rowType = actions.map((action) => {
    const name = `number of rows ${action}${action.endsWith('e') ? 'd' : 'ed'}`
    return { name, type: 'fixed', precision: 19, scale: 0, nullable: false }
  })
  return { rowType, rows: [actions.map((action) => String(done.filter((each) => each === action).length))] }
}
