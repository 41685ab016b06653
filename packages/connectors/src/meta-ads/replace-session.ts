import { createHash } from 'node:crypto'
import { ConnectorError, type Json } from '@penstock/connector'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { seal, unseal } from '../platform-api/seal.ts'
import type { Person } from './audience-rows.ts'
import type { Graph } from './graph.ts'

/** Meta forgets a session 90 minutes after its first batch, and what comes later would be all that the audience holds. */
const sessionMs = 85 * 60 * 1000
/** So many people of the first batch are sent once more to end the session: a last batch needs some, and one may be unusable. */
const closingRows = 5

/** What goes with the schema where it has IDs that belong to a page. */
export type Pages = { readonly page_ids?: readonly string[] }

export type ReplaceOptions = {
  readonly graph: Graph
  readonly transferId: string
  readonly schema: readonly string[]
  readonly pages: Pages
  /** Seals what delivery states hold of people. */
  readonly secret: string
}

/**
 * A session in which an audience's members are replaced. Meta exchanges them when the last batch arrives, and the last
 * batch must have people in it; since it is not known in advance which batch is the last, some people of the first
 * one are sent again at the end. The session and the numbers of its batches follow from the transfer and its delivery states,
 * so that a batch which comes again after a crash is the same one to Meta.
 */
export class ReplaceSession {
  readonly #options: ReplaceOptions
  readonly #audienceId: string
  readonly #sessionId: number
  #sequence = 0
  #rows = 0
  #begun: number | undefined
  #closing: Json | undefined
  #lastKey: string | undefined
  /** Whether the session may have ended without our knowing: another process, or a lost answer, may have ended it. */
  #mayHaveEnded = false

  constructor(options: ReplaceOptions, audienceId: string) {
    this.#options = options
    this.#audienceId = audienceId
    // Whole numbers of JSON are exact up to 53 bits.
    const digest = createHash('sha256').update(`${options.transferId}:${audienceId}`).digest()
    this.#sessionId = Number(digest.readBigUInt64BE() >> 11n) || 1
  }

  /** Takes in what `send` returned for a batch that was confirmed in an earlier process. */
  resume(deliveryState: unknown): void {
    const { sequence, rows, begun, closing } = objectIn(deliveryState)
    this.#sequence = Math.max(this.#sequence, numberIn(sequence) ?? 0)
    this.#rows += numberIn(rows) ?? 0
    this.#begun ??= numberIn(begun)
    this.#closing ??= textIn(closing)
    this.#mayHaveEnded = true
  }

  /**
   * Sends people as the next batch of the session.
   * @param key of their batch; the same one has the same number in the session
   */
  async send(key: string, people: readonly Person[]): Promise<{ bytes: number; invalid: number; deliveryState: Json }> {
    const { secret, transferId } = this.#options
    const again = key === this.#lastKey
    const sequence = again ? this.#sequence : this.#sequence + 1
    const begun = this.#begun ?? Date.now()
    const sent = await this.#post(begun, sequence, people, false)
    this.#begun = begun
    this.#sequence = sequence
    if (!again) this.#rows += people.length
    this.#lastKey = key
    this.#mayHaveEnded = false
    const first = sequence === 1 ? seal(people.slice(0, closingRows), secret, transferId) : undefined
    this.#closing ??= first
    const deliveryState = {
      audience: this.#audienceId,
      sequence,
      rows: people.length,
      ...(first ? { begun, closing: first } : {}),
    }
    return { ...sent, deliveryState }
  }

  /** Ends the session, upon which Meta exchanges the members. Finds its work done when it is called again. */
  async close(): Promise<void> {
    // Sent into a session that has ended, the last batch would begin another one, and be all that the audience holds.
    if (this.#mayHaveEnded && (await this.#hasEnded())) return
    const { secret, transferId } = this.#options
    const people = unseal(String(this.#closing ?? ''), secret, transferId)
    if (!Array.isArray(people) || this.#begun === undefined) {
      const message =
        'The access token was changed while the audience was being replaced, so the replacement cannot be completed; nothing was changed. Start the transfer again.'
      throw new ConnectorError('upload_lost', message)
    }
    this.#mayHaveEnded = true
    await this.#post(this.#begun, this.#sequence + 1, people, true)
  }

  async #post(
    begun: number,
    sequence: number,
    people: readonly unknown[],
    last: boolean,
  ): Promise<{ bytes: number; invalid: number }> {
    if (Date.now() - begun > sessionMs) {
      const message =
        'Replacing the audience took longer than the 90 minutes that Meta allows; nothing was changed. Start it again, or send only the people who are added and removed.'
      throw new ConnectorError('upload_lost', message)
    }
    const { graph, schema, pages } = this.#options
    const { json, bytesSent } = await graph.post(`${this.#audienceId}/usersreplace`, {
      payload: { schema, data: people, ...pages },
      session: { session_id: this.#sessionId, batch_seq: sequence, last_batch_flag: last },
    })
    const unseen = Math.max(0, people.length - (numberIn(json.num_received) ?? people.length))
    const invalid = Math.min(people.length, unseen + (numberIn(json.num_invalid_entries) ?? 0))
    return { bytes: bytesSent, invalid }
  }

  /** Whether Meta has had more than all batches, and is not waiting for any. */
  async #hasEnded(): Promise<boolean> {
    const { json } = await this.#options.graph.get(`${this.#audienceId}/sessions`, {
      fields: 'session_id,stage,end_time,num_received',
      session_id: String(this.#sessionId),
    })
    const session = listIn(json.data)
      .map(objectIn)
      .find(({ session_id }) => textIn(session_id) === String(this.#sessionId))
    if (!session || (numberIn(session.num_received) ?? 0) <= this.#rows) return false
    const stage = textIn(session.stage)
    return (numberIn(session.end_time) ?? 0) > 0 || (stage !== undefined && stage !== 'uploading')
  }
}
