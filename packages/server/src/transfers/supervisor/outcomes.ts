import { ConnectorError } from '@penstock/connector'
import type { OutcomePiece, TransferOutcomes } from '@penstock/engine'
import { outcomesConnectorId } from '@penstock/wire'
import { isLoop, nameOfConnection, noOutcomes, outcomesOf, recordOf } from '../../connections/outcomes.ts'
import type { Database, Transaction } from '../../db/database.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { type AppendedStream, append, openAppended } from '../../streams/appended.ts'
import type { KeptBytes } from '../../streams/kept-bytes.ts'
import { type PackedLines, packLines } from '../../streams/lines.ts'
import type { WorkRow } from './claim-queries.ts'

/** Characters of a compressed piece of outcomes. A larger one is not of our engine. */
const pieceLengthMax = 1024 * 1024

type OutcomeDeps = { readonly database: Database; readonly keyring: Keyring; readonly keptBytes?: KeptBytes }
type RecordedWork = WorkRow & { readonly connectionName: string }

/**
 * Stores what became of each row of one transfer: in the stream of a configuration of the connector *Outcomes*, in the transaction
 * of the confirmation (docs/decisions/outcomes.md).
 */
export class KeptOutcomes {
  readonly #work: RecordedWork
  readonly #keptBytes: KeptBytes | undefined
  readonly #stream: AppendedStream
  readonly #note: (text: string) => void
  /** Whether the log says already that outcomes are left out. */
  #isNoted = false

  private constructor(
    work: RecordedWork,
    of: { stream: AppendedStream; keptBytes: KeptBytes | undefined; note: (text: string) => void },
  ) {
    this.#work = work
    this.#keptBytes = of.keptBytes
    this.#stream = of.stream
    this.#note = of.note
  }

  /**
   * Opens the stream, and creates it before the first transfer. Throws `ConnectorError` if the configuration does not exist.
   * @param note adds a line to the log of the transfer
   * @returns undefined if the connection records no outcomes
   */
  static async open(
    { database, keyring, keptBytes }: OutcomeDeps,
    work: WorkRow,
    note: (text: string) => void,
  ): Promise<KeptOutcomes | undefined> {
    const name = outcomesOf(work.destConfig)
    if (name === '') return undefined
    const { accountId, organizationId, connectionId } = work
    if (work.srcConnectorId === outcomesConnectorId) throw invalid(isLoop)
    const id = await recordOf(database, accountId, name)
    const of = { accountId, organizationId, connectorId: outcomesConnectorId }
    const stream = id === undefined ? undefined : await openAppended({ database, keyring }, { ...of, id })
    if (!stream) throw invalid(noOutcomes(name))
    const connectionName = await nameOfConnection(database, connectionId)
    return new KeptOutcomes({ ...work, connectionName }, { stream, keptBytes, note })
  }

  /** The values that all outcomes of the transfer have in common. */
  get common(): TransferOutcomes {
    const { id: transferId, part, connectionId, connectionName, testRows } = this.#work
    return { transferId, part, connectionId, connectionName, isTest: testRows !== null }
  }

  /** Adds outcomes in the transaction of their confirmation. If there is no room, one outcome says how many are missing. */
  async confirm(tx: Transaction, pieces: readonly OutcomePiece[]): Promise<void> {
    const isStored = await append(tx, this.#stream, await this.#fitting(pieces))
    if (!isStored) this.#noteOnce('The configuration that records outcomes was deleted. Outcomes are not recorded.')
  }

  async #fitting(pieces: readonly OutcomePiece[]): Promise<readonly PackedLines[]> {
    if (pieces.some(({ lines }) => lines.length > pieceLengthMax))
      throw new Error('A runner sent outcomes that cannot be')
    const why = await this.#keptBytes?.whyFull(this.#work)
    if (why === undefined) return pieces.map(({ count, lines }) => ({ count, bytes: Buffer.from(lines, 'base64') }))
    this.#noteOnce(`Outcomes are not recorded: ${why}.`)
    const { id: transfer_id, connectionId: connection_id, connectionName: connection_name } = this.#work
    const records = pieces.reduce((sum, { count }) => sum + count, 0)
    const outcome = {
      connection_id,
      connection_name,
      transfer_id,
      outcome: 'not_recorded',
      reason: why,
      records,
      key: {},
    }
    return [{ count: 1, bytes: await packLines([JSON.stringify([Date.now(), outcome])]) }]
  }

  #noteOnce(text: string): void {
    if (!this.#isNoted) this.#note(text)
    this.#isNoted = true
  }
}

const invalid = (message: string): ConnectorError =>
  new ConnectorError('invalid_setting', message, { side: 'Destination' })
