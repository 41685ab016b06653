import assert from 'node:assert/strict'
import type { Connector } from '@penstock/connector'
import type { Transfer } from '@penstock/wire'
import type { TrustedIssuer } from '../../packages/connectors/test/federation.ts'
import { createLogger } from '../../packages/server/src/log.ts'
import { Claims } from '../../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../../packages/server/src/transfers/supervisor/work.ts'
import { addFolder, inboxFile, localFolder, makeInbox } from './connections.ts'
import { engineOf } from './engine-of.ts'
import { callerOf, connectorBySlug } from './fixtures.ts'
import { createInProcessRunners } from './in-process-runners.ts'
import { startTestService } from './service.ts'
import { noLimits } from './supervision.ts'

/** A service whose connectors sign in by identity tokens at clouds of the test. */

const issuer = 'https://penstock.example.com'

/** The issuer as clouds know it, before the service runs. `isReachable` and `now` can be changed. */
export function makeTrusted() {
  let read: TrustedIssuer['read'] = () => Promise.reject(new Error('not started'))
  const state = { isReachable: true, clockAheadMs: 0 }
  const trusted: TrustedIssuer = {
    issuer,
    read: (url) => (state.isReachable ? read(url) : Promise.reject(new Error('unreachable'))),
    now: () => Date.now() + state.clockAheadMs,
  }
  const start = (by: TrustedIssuer['read']) => {
    read = by
  }
  return { trusted, state, start }
}

/** @param routes the clouds, by their addresses */
export async function startKeyless(
  made: ReturnType<typeof makeTrusted>,
  routes: Readonly<Record<string, string>>,
  env: Record<string, string> = {},
) {
  const inbox = await makeInbox()
  const loadConnector = async (slug: string) => connectorBySlug(slug)
  const runners = createInProcessRunners({ localFolders: [inbox.folder], loadConnector }, routes)
  const service = await startTestService({ ...inbox.env, PENSTOCK_PUBLIC_URL: issuer, ...env }, {}, runners)
  made.start(async (url) => {
    assert(url.startsWith(`${issuer}/`), url)
    const { status, json } = await service.send({ method: 'GET', path: url.slice(issuer.length) })
    assert.equal(status, 200)
    return json
  })
  const organization = await service.addOrganization()
  const caller = callerOf(service, organization)
  const addAccount = async (): Promise<string> => {
    const { id } = await caller.addAccount()
    await addFolder(caller, id, inbox.folder)
    return id
  }
  const accountId = await addAccount()
  const keyless = {
    service,
    caller,
    accountId,
    organizationId: organization.organizationId,
    /** The subject of the tokens of a sub-account. */
    subjectOf: (account: string) => `penstock:${organization.organizationId}:${account}`,
    addAccount,
    configure: ({ id }: Connector, secretConfig: Record<string, string | null>, token?: string) =>
      caller.call('configureConnector', {
        accountId,
        id,
        body: { secretConfig },
        ...(token !== undefined && { token }),
      }),
    check: ({ id }: Connector) => caller.expect(caller.call('checkConnector', { accountId, id })),
    assertWorks: async (connector: Connector) => {
      const { ok, message } = await keyless.check(connector)
      assert(ok, message)
    },
    async connect(
      source: Connector,
      srcConnectionConfig: Record<string, string>,
      destination: Connector,
      destConnectionConfig: Record<string, string>,
    ): Promise<string> {
      const sides = { srcConnectorId: source.id, destConnectorId: destination.id }
      const body = { name: 'Orders', ...sides, srcConnectionConfig, destConnectionConfig }
      const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
      await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
      return id
    },
    async move(id: string): Promise<Transfer> {
      const { id: transferId } = await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
      const log = createLogger('info', { write: (line) => void service.logLines.push(line) })
      await workOnTransfers(engineOf(service), new Claims(noLimits), log, new AbortController().signal)
      return caller.expect(caller.call('getTransfer', { accountId, id, transferId }))
    },
    /** Moves people from the folder to a place, and from a place to the folder, and compares them. */
    async movesBothWays(
      destination: Connector,
      writes: Record<string, string>,
      source: Connector,
      reads: Record<string, string>,
    ): Promise<void> {
      const out = await keyless.move(await keyless.connect(localFolder, { files: inboxFile }, destination, writes))
      assert.deepEqual([out.status, out.error, out.records.accepted], ['succeeded', null, 2])
      const back = await keyless.connect(source, reads, localFolder, { subfolder: 'back' })
      const read = await keyless.move(back)
      assert.deepEqual([read.status, read.error, read.records.accepted], ['succeeded', null, 2])
    },
    token: (account: string, audience: string): Promise<string> =>
      service.service.deps.identityTokens.issue(
        { organizationId: organization.organizationId, accountId: account },
        audience,
      ),
    sql: async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows,
    async close() {
      await service.close()
      await inbox.remove()
    },
  }
  return keyless
}
