import { type Client, createClient, everyPage } from '@penstock/client'

/** Calls that the compiler must refuse. `npm run check` compiles this file, and it is never run. */
export const refusedByCompiler = (client: Client) => [
  // @ts-expect-error accountId is required
  client.getConnection({ id: 'x' }),
  // @ts-expect-error id is required
  client.getConnection({ accountId: 'x' }),
  // @ts-expect-error the operation has no id
  client.listConnections({ id: 'x' }),
  // @ts-expect-error the operation acts in the organization
  client.getAccount({ id: 'x', accountId: 'x' }),
  // @ts-expect-error the body is required
  client.addAccount({}),
  // @ts-expect-error the operation takes no body
  client.deleteAccount({ id: 'x', body: {} }),
  // @ts-expect-error the body has no such field
  client.addAccount({ body: { name: 'x', volume: 1 } }),
  // @ts-expect-error there is no such action
  client.updateConnectionStatus({ accountId: 'x', id: 'x', body: { action: 'restore' } }),
  // @ts-expect-error reads take no If-Match
  client.getAccount({ id: 'x', ifMatch: '"1"' }),
  // @ts-expect-error only what is posted takes an idempotency key
  client.editAccount({ id: 'x', body: {}, idempotencyKey: 'x' }),
  // @ts-expect-error the token operation takes none either
  client.createToken({ body: { clientId: 'x', clientSecret: 'x' }, idempotencyKey: 'x' }),
  // @ts-expect-error nor does what answers a secret, which is not kept to be repeated
  client.rotateClient({ id: 'x', body: {}, idempotencyKey: 'x' }),
  // @ts-expect-error and so does what changes nothing
  client.checkConnector({ accountId: 'x', id: 'x', idempotencyKey: 'x' }),
  // @ts-expect-error transferId is required
  client.getTransfer({ accountId: 'x', id: 'x' }),
  // @ts-expect-error the list has no transferId
  client.listTransfers({ accountId: 'x', id: 'x', transferId: 'x' }),
  // @ts-expect-error there is no such status of a transfer
  client.listTransfers({ accountId: 'x', id: 'x', query: { status: 'done' } }),
  // @ts-expect-error the list of all transfers has no connection in its path
  client.listAllTransfers({ id: 'x' }),
  // @ts-expect-error latest is yes or no
  client.listAllTransfers({ query: { latest: 'true' } }),
  // @ts-expect-error a definition is of the catalogue, not of a sub-account
  client.getConnectorDefinition({ id: 'x', accountId: 'x' }),
  // @ts-expect-error there is no such kind of event
  client.listConnectionEvents({ accountId: 'x', id: 'x' }).then(({ reply }) => reply[0]?.kind === 'deleted'),
  // @ts-expect-error only what begins something can have begun already
  client.getTransfer({ accountId: 'x', id: 'x', transferId: 'x' }).then(({ already }) => already),
  // @ts-expect-error there is no such filter
  client.listConnections({ query: { name: 'x' } }),
  // @ts-expect-error size is a number
  client.listAccounts({ query: { size: '2' } }),
  // @ts-expect-error one of srcConnectorId and destConnectorId is required
  client.listSupportedConnectors({ accountId: 'x', query: {} }),
  // @ts-expect-error and not both
  client.listSupportedConnectors({ accountId: 'x', query: { srcConnectorId: 'x', destConnectorId: 'x' } }),
  // @ts-expect-error only pages have a total
  client.listSupportedConnectors({ accountId: 'x', query: { srcConnectorId: 'x' } }).then(({ total }) => total),
  // @ts-expect-error entries of the list have no userEmail
  client.listAccounts().then(({ reply }) => reply[0]?.userEmail),
  // @ts-expect-error only lists that have pages can be walked
  everyPage(client, 'getAccount', { id: 'x' }),
  // @ts-expect-error credentials or a token, not both
  createClient({ baseUrl: '', token: 'x', clientId: 'x', clientSecret: 'x' }),
  // @ts-expect-error some proof of who asks is required
  createClient({ baseUrl: '' }),
]
