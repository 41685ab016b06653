import {
  asConnectorError,
  type ConnectorError,
  type Delivery,
  type DestinationWriter,
  type Rejection,
  type Row,
  valueRedactor,
} from '@penstock/connector'
import { type Decision, decide } from '@penstock/wire/rules'
import type { TransferState } from '../protocol.ts'
import type { SideSecrets } from '../side-secrets.ts'
import { abandon } from './abandon.ts'
import { type Announcement, announcementOf, batchOf, type KeyScope, settingsOf } from './batch-keys.ts'
import { type Entry, entryOf } from './confirmation.ts'
import { checked, codeOf, isOfTheSides, ofConnector } from './connector-calls.ts'
import type { FilledBatch } from './filled-batch.ts'
import { reportRetry } from './report-retry.ts'
import { pause } from './retries.ts'
import type { SessionDeps } from './session-deps.ts'
import type { SessionLedger } from './session-ledger.ts'
import type { OpenedWriter, Sides } from './sides.ts'

/** Maximum time for a destination, after a failure, to remove incomplete data or to create a file of confirmed data. */
const cleanUpMs = 30_000

/** Shorter values are not redacted, because they can be words of our own messages. */
const valueLengthMin = 6

/** A batch that the destination already has may have had other rows. Its rejected rows are then only counted. */
function ofThese(delivery: Delivery, { announced, covered, rows }: FilledBatch): Delivery {
  if (!announced || announced.covered === covered || delivery.recalled === false || !delivery.rejected) return delivery
  let left = rows.length
  const rejected = delivery.rejected.flatMap(({ index: _, count = 1, ...rejection }) => {
    const counted = Math.min(count, left)
    left -= counted
    return counted > 0 ? [{ ...rejection, count: counted }] : []
  })
  return { ...delivery, rejected }
}

/**
 * A batch that was delivered, and its rejected rows as the destination names them. The names can refer to the rows of an earlier
 * attempt.
 */
type Sent = { readonly entry: Entry; readonly delivery: Delivery; readonly rejected: readonly Rejection[] }

/** Sends the batches of a session to its destination, by a writer that is opened when it is needed, and again after a transient error. */
export class Sender {
  readonly #deps: SessionDeps
  readonly #sides: Sides
  readonly #ledger: SessionLedger
  readonly #scope: KeyScope
  #writer: OpenedWriter | undefined

  constructor(deps: SessionDeps, state: TransferState, sides: Sides, ledger: SessionLedger) {
    this.#deps = deps
    this.#sides = sides
    this.#ledger = ledger
    const { id: transferId, connectionId } = deps.job
    this.#scope = { transferId, connectionId, settings: settingsOf(state), salt: state.keysSalt }
  }

  /** Whether a writer is open. */
  get isOpen(): boolean {
    return this.#writer !== undefined
  }

  /** Whether the writer copies a batch while the previous one is being stored, and commits as soon as it can. */
  get overlaps(): boolean {
    return this.#writer?.writer.awaitsPermit === true
  }

  /**
   * The announcement of a batch, which must be stored before the batch is sent.
   * @param whole the batch to announce instead, unless the batch is found again by its rows and their order does not matter
   */
  announcementOf(filledBatch: FilledBatch, whole = filledBatch): Announcement {
    const announce = (batch: FilledBatch) =>
      announcementOf(batch, this.#scope, this.#sides.columns, this.#sides.repeating)
    const own = announce(filledBatch)
    return own.announced?.rows && this.#sides.adds ? own : announce(whole)
  }

  /** Decides how to handle an error. Throws an error that was not caused by a side. @param rows of the affected batch */
  decide(error: unknown, rows: number): Decision {
    if (!isOfTheSides(error)) throw error
    const batch = rows > 1 ? 'rows' : rows === 1 ? 'row' : 'none'
    const retryAfterMs = this.#deps.retries.waitFor(error)
    return decide(
      { code: codeOf(error) },
      { batch, holds: this.#ledger.unconfirmed.lastHeld !== undefined, retryAfterMs },
    )
  }

  /**
   * Sends a batch, and retries it while errors are transient. Returns the refusal if the batch is split or rejected.
   * @param permit resolves after the batch is announced and the previous one is stored
   */
  async send(
    filledBatch: FilledBatch,
    permit: Promise<void>,
  ): Promise<Sent | { refused: ConnectorError; do: 'split' | 'reject' }> {
    const batch = batchOf(filledBatch, this.#scope, this.#sides.columns, this.#sides.types)
    for (;;) {
      try {
        return await this.ask(async (writer, redact) => {
          const answer = await writer.deliver(batch, permit)
          const delivery = checked(ofThese(answer, filledBatch), batch, redact)
          await permit
          return { entry: entryOf(filledBatch, delivery), delivery, rejected: answer.rejected ?? [] }
        }, batch.rows)
      } catch (error) {
        // Without a permit the transfer ends, whatever the result at the destination.
        await permit
        const decision = this.decide(error, filledBatch.rows.length)
        const refused = asConnectorError(error)
        if (refused && (decision.do === 'split' || decision.do === 'reject')) return { refused, do: decision.do }
        if (decision.do !== 'resend') throw error
        await reportRetry(this.#deps, error, decision.afterMs)
        await this.#writer?.writer.close?.()
        this.#writer = undefined
        await pause(decision.afterMs, this.#deps.signal)
        // A person may have entered another secret in the meantime.
        this.#sides.destinationSide = (await this.#deps.host.open()).destination
      }
    }
  }

  /**
   * Asks the destination which keys it treats as the same (`DestinationWriter.nameKeys`); `undefined` if only equal texts are the
   * same key.
   */
  async nameKeys(keys: readonly Row[]): Promise<readonly (string | null)[] | undefined> {
    const names = await this.ask(async (writer) => writer.nameKeys?.(keys), keys)
    if (names && names.length !== keys.length) throw new Error('A destination named another number of keys than it got')
    return names
  }

  /** @param rows the rows that are sent; their values are removed from the error */
  async ask<T>(
    call: (writer: DestinationWriter, redact: SideSecrets['redact']) => Promise<T>,
    rows: readonly Row[] = [],
  ): Promise<T> {
    // Columns are stored before anything is begun at the destination, so that it is found after a crash.
    if (this.#ledger.newColumns) await this.#ledger.begin({ pending: null })
    this.#writer ??= await this.#openWriter()
    const { writer, redact } = this.#writer
    const withoutValues = (text: string) => redact(valueRedactor(rows, valueLengthMin)(text))
    return ofConnector(this.#deps.signal, { side: 'Destination', redact: withoutValues }, () => call(writer, redact))
  }

  /** Asks the destination to remove unconfirmed data, as far as possible. Never throws. */
  async cleanUp(): Promise<void> {
    await abandon(this.#writer, () => this.#openWriter(AbortSignal.timeout(cleanUpMs)))
  }

  async close(): Promise<void> {
    await this.#writer?.writer.close?.()
  }

  /** @param signal by default, the signal of the transfer */
  #openWriter(signal = this.#deps.signal): Promise<OpenedWriter> {
    return this.#sides.openWriter(signal, { transferId: this.#deps.job.id, ...this.#ledger.unconfirmed.stored })
  }
}
