import { createHash } from 'node:crypto'
import { ConnectorError, type DestinationContext, type Json } from '@penstock/connector'
import type { MemberReplacement, SentPeople } from '../kit/audience-facts.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { seal, unseal } from '../platform-api/seal.ts'
import { openPayloads, type People, sendPeople } from './send-people.ts'

/** Meta forgets a session 90 minutes after its first batch. Later people would then be the only members of the audience. */
const sessionMs = 85 * 60 * 1000
/**
 * At the end of the session, this number of people of the first batch is sent again: the last batch must not be empty, and a
 * person can be unusable.
 */
const closingRows = 5

/** Opens what replaces the members of audiences when the transfer is finished. Throws like `openPayloads`. */
export function openReplacement(client: PlatformClient, context: DestinationContext): MemberReplacement {
  const { secrets, transferId, deliveryStates } = context
  const { dataOf, payloadOf } = openPayloads(context)
  const options = { client, transferId, secret: String(secrets.accessToken ?? ''), payloadOf }
  const sessions = new Map<string, ReplaceSession>()
  /** By audience and batch, since a batch can be repeated before its state is stored. */
  const unsaved = new Map<string, Json>()
  const sessionOf = (audience: string) => {
    const session = sessions.get(audience) ?? new ReplaceSession(options, audience)
    sessions.set(audience, session)
    return session
  }
  for (const each of deliveryStates.flatMap((deliveryState) => listIn(objectIn(deliveryState).sessions))) {
    const audience = textIn(objectIn(each).audience)
    if (audience !== undefined) sessionOf(audience).resume(each)
  }
  return {
    async send(people, { audience }, key) {
      const { deliveryState, ...sent } = await sessionOf(audience).send(key, dataOf(people))
      unsaved.set(`${audience} ${key}`, deliveryState)
      return sent
    },
    deliveryState() {
      const states = [...unsaved.values()]
      unsaved.clear()
      return states.length === 0 ? undefined : { sessions: states }
    },
    async finish() {
      for (const session of sessions.values()) await session.close()
    },
    // Meta forgets a session whose last batch never arrives, and the audience does not change.
  }
}

type Options = {
  readonly client: PlatformClient
  readonly transferId: string
  readonly payloadOf: (data: People) => object
  /** Seals what delivery states hold of people. */
  readonly secret: string
}

/**
 * A session that replaces an audience's members. Meta exchanges them when the last batch arrives, which must contain people.
 * Since it is not known in advance which batch is the last, some people of the first one are sent again at the end. The session
 * and the numbers of its batches are derived from the transfer and its delivery states, so that Meta recognises a batch that is
 * repeated after a crash.
 */
class ReplaceSession {
  readonly #options: Options
  readonly #audienceId: string
  readonly #sessionId: number
  #sequence = 0
  #rows = 0
  #begun: number | undefined
  #closing: Json | undefined
  #lastKey: string | undefined
  /**
   * Whether the session may have ended without this process knowing: another process may have ended it, or the answer was lost.
   */
  #mayHaveEnded = false

  constructor(options: Options, audienceId: string) {
    this.#options = options
    this.#audienceId = audienceId
    // Whole numbers of JSON are exact up to 53 bits.
    const digest = createHash('sha256').update(`${options.transferId}:${audienceId}`).digest()
    this.#sessionId = Number(digest.readBigUInt64BE() >> 11n) || 1
  }

  /** Restores the result of `send` for a batch that an earlier process confirmed. */
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
   * @param key of their batch; a repeated batch has the same number in the session
   */
  async send(key: string, people: People): Promise<SentPeople & { deliveryState: Json }> {
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
    const first = sequence === 1 ? seal(people.slice(0, closingRows) as Json, secret, transferId) : undefined
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

  async #post(begun: number, sequence: number, people: People, last: boolean): Promise<SentPeople> {
    if (Date.now() - begun > sessionMs) {
      const message =
        'Replacing the audience took longer than the 90 minutes that Meta allows; nothing was changed. Start it again, or send only the people who are added and removed.'
      throw new ConnectorError('upload_lost', message)
    }
    const { client, payloadOf } = this.#options
    const session = { session_id: this.#sessionId, batch_seq: sequence, last_batch_flag: last }
    const body = { payload: payloadOf(people), session }
    return sendPeople(client, { method: 'POST', path: `/${this.#audienceId}/usersreplace`, body }, people.length)
  }

  /** Whether Meta has had more than all batches, and is not waiting for any. */
  async #hasEnded(): Promise<boolean> {
    const id = String(this.#sessionId)
    const { json } = await this.#options.client.askObject({
      path: `/${this.#audienceId}/sessions`,
      query: { fields: 'session_id,stage,end_time,num_received', session_id: id },
    })
    const session = listIn(json.data)
      .map(objectIn)
      .find(({ session_id }) => textIn(session_id) === id)
    if (!session || (numberIn(session.num_received) ?? 0) <= this.#rows) return false
    const stage = textIn(session.stage)
    return (numberIn(session.end_time) ?? 0) > 0 || (stage !== undefined && stage !== 'uploading')
  }
}
