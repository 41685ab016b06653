import assert from 'node:assert/strict'
import { openSecrets } from '../../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from '../harness/configurations.ts'
import { assertInvariants } from '../harness/invariants.ts'
import type { Model, Values } from './model.ts'
import { connectorById } from './settings.ts'
import type { World } from './world.ts'

/** The database holds what the model holds, row for row, and every invariant. */
export async function assertSame(world: World, model: Model): Promise<void> {
  const { database } = world.service
  await assertInvariants(database.pool)
  assert.deepEqual(await readRows(world), rowsOf(model))
}

/** Every secret, or every one of an account, opens to what was sent last. */
export async function assertSecretsOpen({ service }: World, model: Model, accountId?: string): Promise<void> {
  const { keyring } = service.service.deps
  const accounts = [...model.accounts.values()].filter(({ id }) => accountId === undefined || id === accountId)
  for (const { id: accountId, added } of accounts) {
    for (const { connectorId, values, others } of added.values()) {
      const owner = await firstConfiguration(service.database, { accountId, connectorId })
      const first: [string, Values] = [owner.configurationId, values]
      const all = [first, ...[...others].map(([id, other]): [string, Values] => [id, other.values])]
      for (const [configurationId, saved] of all) {
        const opened = await openSecrets(service.database, keyring, { ...owner, configurationId })
        assert.deepEqual(opened, split(connectorId, saved).secrets, `the secrets of ${connectorId} in ${accountId}`)
      }
    }
  }
}

/** No organization sees anything of another one. */
export async function assertApart(world: World, model: Model): Promise<void> {
  for (const { id, org, connections } of model.accounts.values()) {
    const stranger = 1 - org
    const [connectionId = 'ffffffffffffffff'] = connections.keys()
    const outcomes = await Promise.all([
      world.call({ org: stranger, operation: 'getAccount', id }),
      world.call({ org: stranger, operation: 'listConnections', accountId: id }),
      world.call({ org: stranger, operation: 'listAddedConnectors', accountId: id }),
      world.call({ org: stranger, operation: 'getConnection', accountId: id, id: connectionId }),
    ])
    assert.deepEqual(
      outcomes.map(({ error }) => error),
      Array(4).fill('not_found'),
      `a stranger sees ${id}`,
    )
  }
}

/** Adopts the service's order of resources that were created concurrently. */
export async function adoptOrder({ service }: World, model: Model): Promise<void> {
  const { rows } = await service.database.pool.query<{ id: string; rank: number }>(
    `select id, dense_rank() over (order by created_time)::int as rank from (
       select id, created_time from accounts
       union all select id, created_time from connections
       union all select account_id || ' ' || connector_id, created_time from added_connectors
     ) as created`,
  )
  const ranks = new Map(rows.map(({ id, rank }) => [id, rank]))
  const rankOf = (id: string) => ranks.get(id) ?? assert.fail(`${id} is not there`)
  for (const account of model.accounts.values()) {
    account.order = rankOf(account.id)
    for (const connection of account.connections.values()) connection.order = rankOf(connection.id)
    for (const added of account.added.values()) added.order = rankOf(`${account.id} ${added.connectorId}`)
  }
  model.clock = Math.max(0, ...ranks.values())
}

const byId = (a: unknown[], b: unknown[]) => (String(a) < String(b) ? -1 : 1)

async function readRows({ service, organizations }: World) {
  const orgs = organizations.map(({ organizationId }) => organizationId)
  const read = async (text: string) => {
    const { rows } = await service.database.pool.query({ text, rowMode: 'array' })
    return (rows as unknown[][]).sort(byId)
  }
  const keys = await read('select organization_id, key from idempotency_keys')
  return {
    accounts: await read(
      `select id, array_position('{${orgs}}', organization_id) - 1, name, enabled, version, deleted_time is not null
       from accounts`,
    ),
    added: await read(
      `select account_id, connector_id, first, configured, name, secret_name, version, settings,
         array(select s.name from secrets s where s.configuration_id = a.id order by 1)
       from configurations a`,
    ),
    connections: await read(
      `select id, account_id, name, status, previous_status, src_connector_id, dest_connector_id,
         case when not src_first then src_configuration_id end, case when not dest_first then dest_configuration_id end,
         version, src_config, dest_config from connections`,
    ),
    keys: keys.map(([organizationId, key]) => [orgs.indexOf(String(organizationId)), key]).sort(byId),
  }
}

function rowsOf(model: Model): Awaited<ReturnType<typeof readRows>> {
  const accounts = [...model.accounts.values()]
  return {
    accounts: accounts
      .map((one) => [one.id, one.org, one.name, one.enabled, one.version, one.deletedDays !== undefined])
      .sort(byId),
    added: accounts
      .flatMap(({ id, added }) =>
        [...added.values()].flatMap((first) =>
          [first, ...first.others.values()].map((one) => {
            const { settings, secrets } = split(first.connectorId, one.values)
            const names = Object.keys(secrets).sort()
            const of = [id, first.connectorId, one === first]
            return [...of, one.configured, one.name, one.secretName, one.version, settings, names]
          }),
        ),
      )
      .sort(byId),
    connections: accounts
      .flatMap(({ id, connections }) =>
        [...connections.values()].map((one) => [
          one.id,
          id,
          one.name,
          one.status,
          one.previous,
          one.src,
          one.dest,
          one.srcOther ?? null,
          one.destOther ?? null,
          one.version,
          one.srcConfig,
          one.destConfig,
        ]),
      )
      .sort(byId),
    keys: [...model.keys.values()].map(({ org, key }) => [org, key]).sort(byId),
  }
}

/** Values by where they are kept: secrets apart. */
function split(connectorId: string, values: Values): { settings: Values; secrets: Values } {
  const fields = connectorById(connectorId)?.secrets ?? {}
  const entries = Object.entries(values)
  const isSecret = ([key]: [string, unknown]) => fields[key]?.type === 'Password'
  return {
    settings: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(entries.filter(isSecret)),
  }
}
