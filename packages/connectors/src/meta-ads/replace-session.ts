import { createHash } from 'node:crypto'
import { Outcome } from '@penstock/connector'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import type { Person } from './audience-rows.ts'
import type { Graph } from './graph.ts'

/** Rows that Meta takes in one request. */
export const requestRowsMax = 10_000
/** Meta forgets a session 90 minutes after its first batch, and what comes later would be all that the audience holds. */
const sessionMs = 85 * 60 * 1000

/**
 * A session in which an audience's members are replaced. Meta exchanges them when the last batch has come, and the last
 * batch must have people in it: so people are held back until more come or the transfer ends.
 * The session and the numbers of its batches follow from the transfer: after a crash all of it is sent again under the
 * same numbers.
 */
export class ReplaceSession {
  readonly #graph: Graph
  readonly #audienceId: string
  readonly #schema: readonly string[]
  readonly #sessionId: number
  #held: readonly Person[] = []
  #heldKey: string | undefined
  #sequence = 1
  #received = 0
  #begun: number | undefined
  #closing: 'not yet' | 'sent' | 'done' = 'not yet'

  constructor(graph: Graph, audienceId: string, transferId: string, schema: readonly string[]) {
    this.#graph = graph
    this.#audienceId = audienceId
    this.#schema = schema
    // Whole numbers of JSON are exact up to 53 bits.
    const digest = createHash('sha256').update(`${transferId}:${audienceId}`).digest()
    this.#sessionId = Number(digest.readBigUInt64BE() >> 11n) || 1
  }

  /**
   * Takes people in, and sends those that were held before if there are too many for one request.
   * @param key of their batch: the same batch may come again after an outcome, and is then taken once
   * @returns what was sent, in bytes, and how many of the people sent Meta could not use
   */
  async add(key: string, people: readonly Person[]): Promise<{ bytes: number; invalid: number }> {
    if (key === this.#heldKey) return { bytes: 0, invalid: 0 }
    const full = this.#held.length + people.length > requestRowsMax
    const sent = full && this.#held.length > 0 ? await this.#send(false) : { bytes: 0, invalid: 0 }
    this.#held = [...this.#held, ...people]
    this.#heldKey = key
    return sent
  }

  /** Sends what is held as the last batch, upon which Meta exchanges the members. May be called again after an outcome. */
  async close(): Promise<{ bytes: number; invalid: number }> {
    if (this.#closing === 'done' || this.#held.length === 0) return { bytes: 0, invalid: 0 }
    // The answer to the last batch may have been lost. Sent once more into a session that has ended, the batch would begin
    // another one, and be all that the audience holds.
    if (this.#closing === 'sent' && this.#sequence > 1 && (await this.#hasEnded())) {
      this.#closing = 'done'
      return { bytes: 0, invalid: 0 }
    }
    this.#closing = 'sent'
    const sent = await this.#send(true)
    this.#closing = 'done'
    return sent
  }

  async #send(last: boolean): Promise<{ bytes: number; invalid: number }> {
    this.#begun ??= Date.now()
    if (Date.now() - this.#begun > sessionMs) {
      const message =
        'Replacing the audience took longer than the 90 minutes that Meta allows; nothing was changed. Start it again, or send only who is added and removed.'
      throw new Outcome('failed', 'session_expired', message)
    }
    const { json, bytesSent } = await this.#graph.post(`${this.#audienceId}/usersreplace`, {
      payload: { schema: this.#schema, data: this.#held },
      session: { session_id: this.#sessionId, batch_seq: this.#sequence, last_batch_flag: last },
    })
    this.#received += this.#held.length
    const invalid = Math.min(numberIn(json.num_invalid_entries) ?? 0, this.#held.length)
    this.#sequence++
    this.#held = []
    return { bytes: bytesSent, invalid }
  }

  async #hasEnded(): Promise<boolean> {
    const { json } = await this.#graph.get(`${this.#audienceId}/sessions`, {
      fields: 'session_id,end_time,num_received',
      session_id: String(this.#sessionId),
    })
    const session = listIn(json.data)
      .map(objectIn)
      .find(({ session_id }) => textIn(session_id) === String(this.#sessionId))
    const all = this.#received + this.#held.length
    return (
      session !== undefined && ((numberIn(session.end_time) ?? 0) > 0 || (numberIn(session.num_received) ?? 0) >= all)
    )
  }
}
