import type pg from 'pg'
import utils from 'pg/lib/utils.js'
import { TooManyBytes } from './errors.ts'
import { types } from './types.ts'

/**
 * One run of a prepared statement, as the driver's clients take it. The driver's own query has the columns described
 * at every run, and makes each row in two steps; this one has them described once for each connection, and makes a row
 * as the caller wants it at once.
 */
export class Run<Row extends Record<string, unknown>> implements pg.Submittable {
  name: string
  readonly text: string
  readonly values: unknown[]
  readonly rows: Row[] = []
  /** How many rows it touched. */
  rowCount = 0
  /** Settles when the server is done with it, or when it could not be sent. */
  readonly finished: Promise<void>
  /**
   * Statements that are executed right before it in the same message, such as `begin`: texts without parameters and
   * without rows.
   */
  preceding: readonly string[] = []
  /**
   * Whether it ends its transaction: `commit` is then in the same message, and is executed only if the statement
   * succeeds.
   */
  commits = false
  /** Bytes of all rows at most; undefined: no limit yet. If there are more, it fails with `TooManyBytes`. */
  bytesMax: number | undefined
  #bytes = 0
  /** The pool's, which takes its connection back. */
  callback?: (error?: Error) => void
  readonly #columns: Columns<Row>
  readonly #settle = Promise.withResolvers<void>()
  #unreadable: unknown

  constructor({ name, text, values }: { name: string; text: string; values: unknown[] }, columns: Columns<Row>) {
    this.name = name
    this.text = text
    this.values = values
    this.#columns = columns
    this.finished = this.#settle.promise
  }

  /**
   * Another client may have the session next, so that no name lasts.
   * @param preceding as the property, if they are known already
   */
  shareSession(preceding = this.preceding): void {
    this.name = ''
    this.preceding = preceding
  }

  /** It could not be sent. */
  fail(error: unknown): void {
    this.#settle.reject(error)
  }

  submit(connection: pg.Connection): void {
    const { parsedStatements, stream } = connection as Wire
    const known = this.name in parsedStatements
    stream.cork()
    try {
      const parse = () => connection.parse({ name: this.name, text: this.text, types: [] }, true)
      const execute = (text: string) => {
        connection.parse({ name: '', text, types: [] }, true)
        connection.bind({}, true)
        connection.execute(null, true)
      }
      if (this.name && !known) parse()
      for (const text of this.preceding) execute(text)
      // There is one place without a name, and what precedes has just been in it.
      if (!this.name) parse()
      connection.bind({ statement: this.name, values: this.values as string[], valueMapper: utils.prepareValue }, true)
      if (!known) connection.describe({ type: 'P' }, true)
      connection.execute(null, true)
      if (this.commits) execute('commit')
      connection.sync()
    } finally {
      stream.uncork()
    }
  }

  handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    this.#columns.describe(fields)
  }

  handleDataRow({ fields, length }: { fields: readonly (string | null)[]; length: number }): void {
    this.#bytes += length
    if (this.bytesMax !== undefined && this.#bytes > this.bytesMax) {
      this.#unreadable ??= new TooManyBytes(this.bytesMax)
      this.rows.length = 0
      return
    }
    try {
      this.rows.push(this.#columns.read(fields))
    } catch (error) {
      this.#unreadable ??= error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const count = /\d+$/.exec(text)?.[0]
    // `begin` and `commit` count nothing.
    if (count !== undefined) this.rowCount = Number(count)
  }

  handleReadyForQuery(): void {
    this.callback?.()
    if (this.#unreadable === undefined) this.#settle.resolve()
    else this.#settle.reject(this.#unreadable)
  }

  handleError(error: Error): void {
    this.callback?.(error)
    this.#settle.reject(error)
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

/** Properties of the driver's connection that its types omit. */
type Wire = pg.Connection & { parsedStatements: Record<string, string> }

/** How the rows of one statement are read: names in camel case, and what each text stands for. */
export class Columns<Row extends Record<string, unknown>> {
  /** Makes a row of its texts. */
  read: (texts: readonly (string | null)[]) => Row = () => ({}) as Row
  #described = ''

  describe(fields: readonly pg.FieldDef[]): void {
    const described = fields.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`).join()
    if (described === this.#described) return
    this.#described = described
    const readers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text'))
    const columns = fields.map(({ name }, i) => {
      const key = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return `${JSON.stringify(key)}: texts[${i}] === null ? null : readers[${i}](texts[${i}])`
    })
    // One literal, so that all rows have one shape: adding the columns one by one takes three times as long. The names are
    // those of our own statements.
    this.read = new Function('readers', `return (texts) => ({ ${columns.join()} })`)(readers) as typeof this.read
  }
}
