import type pg from 'pg'
import utils from 'pg/lib/utils.js'
import { TooManyBytes } from './errors.ts'
import { types } from './types.ts'

/**
 * One run of a prepared statement, as the driver's clients accept it. The driver's own query describes the columns at every
 * run, and creates each row in two steps. This class describes them once per connection, and creates each row directly in its
 * final form.
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
  /** Limit on the bytes of all rows. Undefined means no limit yet. Beyond the limit, the run fails with `TooManyBytes`. */
  bytesMax: number | undefined
  #bytes = 0
  /** The callback of the pool, which takes its connection back. */
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
   * Another client can get the session next, so no statement name is kept.
   * @param preceding same as the property, if already known
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

/** How the rows of one statement are read: names in camel case, and the value of each text. */
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
    // One literal, so that all rows have the same shape. Adding the columns one by one takes three times as long. The names
    // come from our own statements, so the code contains no foreign text.
    this.read = new Function('readers', `return (texts) => ({ ${columns.join()} })`)(readers) as typeof this.read
  }
}
