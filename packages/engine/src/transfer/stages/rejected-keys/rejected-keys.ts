import type { Row } from '@penstock/connector'
import type { Confirmation, TransferHost } from '../../../protocol.ts'
import type { FilledBatch } from '../../filled-batch.ts'
import { RowDigester, recordWords } from '../changed-rows/row-digests.ts'
import { foldKey } from './fold-key.ts'

/**
 * The keys of rejected records. A record that is sent again must not replace newer data. So each rejected record has a digest of
 * its key, and is superseded as soon as any transfer delivers a later record with that key (docs/decisions/rejected-records.md).
 */
export class RejectedKeys {
  readonly #secret: Buffer
  readonly #keyNames: readonly string[]
  /** Keys that have a rejected record that can be sent again. */
  readonly #open: Set<string>
  #digester: RowDigester | undefined
  #indexes: readonly number[] = []
  readonly #record = new Uint32Array(recordWords)
  /** Of the rejected records since the last confirmation, by number. */
  readonly #rejected = new Map<number, string>()
  /** The last record that was delivered since then, by key. */
  readonly #delivered = new Map<string, number>()

  private constructor(secret: Buffer, keyNames: readonly string[], open: readonly string[]) {
    this.#secret = secret
    this.#keyNames = keyNames
    this.#open = new Set(open)
  }

  /** @param keyNames the columns by which the destination finds a row again; `undefined` if it cannot */
  static async open(
    host: Pick<TransferHost, 'rejectedKeys'>,
    keyNames: readonly string[] | undefined,
  ): Promise<RejectedKeys | undefined> {
    if (!keyNames?.length) return undefined
    const { key, open } = await host.rejectedKeys()
    return new RejectedKeys(Buffer.from(key, 'base64'), keyNames, open)
  }

  /** Learns the columns that the destination gets. To be called before the first batch. */
  useColumns(columns: readonly string[]): void {
    if (this.#digester) return
    const indexes = this.#keyNames.map((name) => columns.indexOf(name))
    if (indexes.includes(-1)) return
    this.#indexes = indexes
    this.#digester = new RowDigester(this.#secret, columns, indexes, { salt: null, formOf: foldKey })
  }

  /** Adds the results of a batch. @param isSent whether its rows were sent, and not only checked */
  add(
    { rows, numbers, unsent = new Map() }: FilledBatch,
    rejects: readonly { readonly row: number | null }[],
    isSent: boolean,
  ): void {
    const refused = new Set(rejects.flatMap(({ row }) => row ?? []))
    for (const [number, mapped] of unsent) if (refused.has(number)) this.#addRejected(number, mapped)
    if (refused.size > 0) {
      for (const [i, number] of numbers.entries()) if (refused.has(number)) this.#addRejected(number, rows[i] as Row)
    }
    if (!isSent || this.#open.size === 0) return
    for (const [i, number] of numbers.entries()) {
      if (refused.has(number)) continue
      const key = this.#digestOf(rows[i] as Row)
      if (key !== null && this.#open.has(key)) this.#delivered.set(key, Math.max(number, this.#delivered.get(key) ?? 0))
    }
  }

  /** Adds the keys of its rejected records to a confirmation, and the keys that were delivered since the last one. */
  complete(confirmation: Confirmation): Confirmation {
    const rejects = confirmation.rejects.map((reject) => {
      const key = reject.row === null ? null : (this.#rejected.get(reject.row) ?? null)
      const superseded = key !== null && (this.#delivered.get(key) ?? 0) > (reject.row ?? 0)
      return { ...reject, key, superseded }
    })
    const superseded = [...this.#delivered].map(([key, row]) => ({ key, row }))
    this.#rejected.clear()
    this.#delivered.clear()
    return { ...confirmation, rejects, superseded }
  }

  #addRejected(number: number, row: Row): void {
    const key = this.#digestOf(row)
    if (key === null) return
    this.#rejected.set(number, key)
    this.#open.add(key)
  }

  /** `null` if the row has no key. */
  #digestOf(row: Row): string | null {
    const cells = this.#indexes.map((index) => row[index] ?? null)
    if (!this.#digester || cells.some((cell) => cell === null || cell === '')) return null
    this.#digester.writeKey(cells, this.#record, 0)
    const [high = 0, low = 0] = this.#record
    return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
  }
}
