import { type Caller, connectorBySlug } from './fixtures.ts'

/** Streams of events, as tests set them up. */

const eventStream = connectorBySlug('event-stream')

type Settings = Record<string, string | number | boolean>

/** Adds the connector to a sub-account and configures it. @returns the identifier of the stream */
export async function addStream(
  caller: Caller,
  accountId: string,
  secretConfig: Settings = {},
  connector = eventStream,
): Promise<string> {
  await caller.addConnectors(accountId, connector)
  const call = { accountId, id: connector.id, body: { secretConfig } }
  return (await caller.expect(caller.call('configureConnector', call))).configurationId
}

/** The same, with a write key. */
export async function addStreamWithKey(
  caller: Caller,
  accountId: string,
  secretConfig: Settings = {},
  connector = eventStream,
): Promise<{ id: string; key: string }> {
  const id = await addStream(caller, accountId, secretConfig, connector)
  const { key } = await caller.expect(caller.call('createStreamKey', { accountId, id }))
  return { id, key }
}

export const basic = (key: string): string => `Basic ${Buffer.from(`${key}:`).toString('base64')}`
