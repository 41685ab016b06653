import { randomUUID } from 'node:crypto'
import { limits, streamConnectorIds } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, requireEditable } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { makeStream } from './made-streams.ts'
import * as queries from './queries.ts'
import { streamTopic } from './topics.ts'
import { viewKey, viewStream } from './view.ts'
import { volumesOf } from './volume-queries.ts'
import { digestOfWriteKey, hintOf, newWriteKey } from './write-keys.ts'

/** Streams of events, for people who set them up. Senders meet `receive.ts`. */

/** Dependencies of the handlers of streams. */
export type StreamDeps = {
  readonly config: Config
  readonly keyring: Keyring
  /** Receives a test event of a stream. The receiver implements it. */
  readonly receiveTest: (streamId: string, event: object) => Promise<void>
}

const connectorIds = streamConnectorIds

export async function getStream(
  { db, account, id }: Call<'getStream'>,
  { config }: StreamDeps,
): Promise<Answer<'getStream'>> {
  const of = { id, accountId: account.id, connectorIds }
  const { connectorId, settings } = (await queries.findStreamConfiguration.first(db, of)) ?? refuse('not_found')
  const [figures, keys, consumers, columns, volumes] = await Promise.all([
    queries.streamFigures.first(db, { id }),
    queries.listKeys.all(db, { streamId: id }),
    queries.consumersOf.all(db, { id, accountId: account.id }),
    queries.seenColumnsOf.all(db, { id }),
    volumesOf.all(db, { id }),
  ])
  const { publicUrl } = config
  return {
    reply: viewStream(
      { id, accountId: account.id, connectorId, publicUrl },
      { settings, figures, keys, consumers, columns, volumes },
    ),
  }
}

/** Creates a key of 192 random bits, and with the first one the stream. Refuses with `quota_exceeded` above the keys of a stream. */
export async function createStreamKey(
  { db: tx, account, id: streamId }: Call<'createStreamKey'>,
  deps: StreamDeps,
): Promise<Answer<'createStreamKey'>> {
  const of = { id: streamId, accountId: account.id, connectorIds }
  const configuration = (await queries.holdConfiguration.first(tx, of)) ?? refuse('not_found')
  requireEditable(configuration, deps)
  if (!configuration.configured) refuse('connector_not_configured')
  await makeStream(tx, account, { id: streamId, connectorId: configuration.connectorId }, deps.keyring)
  // The configuration is held, so that keys of one stream are created one after another.
  const keys = await queries.listKeys.all(tx, { streamId })
  if (keys.length >= limits.streamKeysMax) {
    const message = `at most ${limits.streamKeysMax} write keys of a stream: delete the key that is not needed`
    refuse('quota_exceeded', [{ field: 'keys', message }])
  }
  const key = newWriteKey()
  const made = { id: newIdentifier(), streamId, digest: digestOfWriteKey(key), hint: hintOf(key) }
  const row = await queries.insertKey.first(tx, made)
  if (!row) throw new Error(`The write key ${made.id} was not saved`)
  await queries.announce.run(tx, { topic: streamTopic, values: [streamId] })
  const view = viewKey(row)
  return { reply: { ...view, key }, audited: { after: { streamId, ...view } } }
}

/** Sends a sample event. Refuses with `connector_not_configured` if the stream has no write key yet, or is turned off. */
export async function sendTestEvent(
  { db: tx, account, id }: Call<'sendTestEvent'>,
  { receiveTest }: StreamDeps,
): Promise<Answer<'sendTestEvent'>> {
  const of = { id, accountId: account.id, connectorIds }
  if (!(await queries.findStreamConfiguration.first(tx, of))) refuse('not_found')
  if (!(await queries.findStream.first(tx, { id }))) {
    refuse('connector_not_configured', [{ field: 'stream', message: 'has no write key yet: create one first' }])
  }
  const messageId = `test-${randomUUID()}`
  await receiveTest(id, {
    messageId,
    event: 'Test event',
    userId: 'test-user',
    properties: { test: true, total: 39.9 },
  })
  return { reply: { id, messageId } }
}

export async function deleteStreamKey({
  db: tx,
  account,
  id,
}: Call<'deleteStreamKey'>): Promise<Answer<'deleteStreamKey'>> {
  const row = (await queries.deleteKey.first(tx, { id, accountId: account.id })) ?? refuse('not_found')
  await queries.announce.run(tx, { topic: streamTopic, values: [row.streamId] })
  const { streamId } = row
  const reply = viewKey(row)
  return { reply, audited: { before: { streamId, ...reply }, after: null } }
}
