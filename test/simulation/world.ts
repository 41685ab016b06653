import assert from 'node:assert/strict'
import { restoreAccount } from '../../packages/server/src/accounts/accounts.ts'
import { connectionsOfAccounts, triggerConnection } from '../../packages/server/src/connections/connections.ts'
import { generateMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { purge } from '../../packages/server/src/worker/purge.ts'
import { createTestDatabase } from '../harness/database.ts'
import { type CallOptions, type Organization, startServiceOn, type TestService } from '../harness/service.ts'
import type { Call, Outcome } from './model.ts'

/** The real service, on a separate database, with everything that the simulation does to it. */
export type World = {
  readonly service: TestService
  readonly organizations: readonly Organization[]
  call(call: Call): Promise<Outcome>
  /** Event of a transfer or a probe on a connection. */
  meet(accountId: string, id: string, trigger: 'breakdown' | 'outage' | 'recovery'): Promise<void>
  /** Runs the operator's command. False if it fails. */
  restoreAccount(id: string): Promise<boolean>
  /** Simulates the passing of time for deleted resources, and for stored idempotent answers. */
  age(what: { connection: string } | { account: string } | { key: string; org: number }, seconds: number): Promise<void>
  purge(): Promise<void>
  /** Stops the service, and starts another one on the same database. */
  restart(): Promise<void>
  close(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const database = await createTestDatabase()
  const env = { PENSTOCK_MASTER_KEY: generateMasterKey(), PENSTOCK_LOG_LEVEL: 'warn' }
  let service = await startServiceOn(database.url, env)
  const organizations = [await service.addOrganization(), await service.addOrganization()]
  const sql = async (text: string, values: unknown[]) => {
    const { rowCount } = await service.database.pool.query(text, values)
    assert(rowCount, `nothing to age: ${values}`)
  }
  return {
    get service() {
      return service
    },
    organizations,
    call: async ({ org, operation, key, ifMatch, malformed: _, ...rest }) => {
      const options = {
        ...rest,
        token: organizations[org]?.token,
        headers: { ...(key ? { 'idempotency-key': key } : {}), ...(ifMatch ? { 'if-match': ifMatch.etag } : {}) },
      } as unknown as CallOptions<typeof operation>
      const { status, error, response, headers } = await service.call(operation, options)
      const failed = error as Outcome['error']
      return { status, error: failed, payload: response, etag: headers.etag, total: headers['x-total-count'] }
    },
    meet: async (accountId, id, trigger) => {
      const { deps } = service.service
      const owner = await service.database.pool.query('select organization_id from accounts where id = $1', [accountId])
      await service.database.transaction(async (tx) => {
        const account = await deps.accounts.find(tx, owner.rows[0].organization_id, accountId, true)
        assert(account)
        await triggerConnection({ db: tx, account, id, precondition: { check: () => {} } }, deps, trigger)
      })
    },
    restoreAccount: (id) =>
      service.database
        .transaction((tx) => restoreAccount(tx, id, connectionsOfAccounts))
        .then(
          () => true,
          () => false,
        ),
    age: async (what, seconds) => {
      if ('connection' in what) {
        const text = 'update connections set deleted_time = deleted_time - make_interval(secs => $2) where id = $1'
        await sql(text, [what.connection, seconds])
      } else if ('account' in what) {
        await sql('update accounts set deleted_time = deleted_time - make_interval(secs => $2) where id = $1', [
          what.account,
          seconds,
        ])
        const text =
          'update connections set deleted_time = deleted_time - make_interval(secs => $2) where account_id = $1'
        await service.database.pool.query(text, [what.account, seconds])
      } else {
        const text =
          'update idempotency_keys set created_time = created_time - make_interval(secs => $3) where organization_id = $1 and key = $2'
        await sql(text, [organizations[what.org]?.organizationId, what.key, seconds])
      }
    },
    purge: async () => {
      const { rejects, ledgerDays } = service.config
      await purge(service.database, { rejectDays: rejects.days, ledgerDays, auditDays: 0 })
    },
    restart: async () => {
      await service.close()
      service = await startServiceOn(database.url, env)
    },
    close: async () => {
      await service.close()
      await database.drop()
    },
  }
}
