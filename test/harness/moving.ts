import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { Connector } from '@penstock/connector'
import type { Transfer } from '@penstock/wire'
import { workWith } from './handover.ts'
import { startFixture } from './transfers.ts'

/** A connector, and the values of its configuration. */
type Side = readonly [connector: Connector, secrets: object]

/**
 * A service whose sub-account has two configured connectors, with workers that reach their servers.
 * @param routes the addresses of the servers, by the platforms' addresses
 */
export async function startMoving(routes: Readonly<Record<string, string>>, ...sides: readonly Side[]) {
  const fixture = await startFixture()
  after(() => fixture.close())
  const { caller, accountId, service } = fixture
  const { masterKey } = service.config
  assert(masterKey)
  await caller.addConnectors(accountId, ...sides.map(([connector]) => connector))
  const configure = ([{ id }, secrets]: Side) => {
    const body = { secretConfig: secrets as Record<string, string> }
    return caller.expect(caller.call('configureConnector', { accountId, id, body }))
  }
  for (const side of sides) await configure(side)
  const work = () => workWith(service.database, masterKey, routes, (line) => void service.logLines.push(line))
  const entriesOf = (id: string, transferId: string) =>
    caller.expect(caller.call('listTransferLog', { accountId, id, transferId }))
  return {
    fixture,
    caller,
    accountId,
    service,
    /** Configures a connector again. */
    configure,
    /** Works on transfers until no transfer can be claimed. */
    work,
    /** Moves the records of a connection, and resolves with the transfer. */
    async move(connectionId: string, body = {}): Promise<Transfer> {
      const { id } = await fixture.start(connectionId, body)
      await work()
      return fixture.get(connectionId, id)
    },
    /** The texts of the log of a transfer. */
    log: async (id: string, transferId: string): Promise<string> =>
      (await entriesOf(id, transferId)).map(({ text }) => text).join('\n'),
    /** The texts of the log about the route of a transfer. */
    routeIn: async (id: string, transferId: string): Promise<string> =>
      (await entriesOf(id, transferId))
        .filter(({ kind }) => kind === 'route')
        .map(({ text }) => text)
        .join(),
    /** The facts for a worker in another process. */
    worker: { databaseUrl: service.databaseUrl, masterKey: masterKey.key.export().toString('base64'), routes },
  }
}

/** Files of people as CSV: `count` people from an ID on, and then further lines. */
export const peopleCsv = (from: number, count: number, more: readonly string[] = []): string =>
  ['id,name,paid,changed', ...Array.from({ length: count }, (_, i) => personLine(from + i)), ...more, ''].join('\n')
export const personLine = (id: number): string => `${id},"Zoë ""${id}""",${id}.25,2026-01-31T12:00:00+01:00`
