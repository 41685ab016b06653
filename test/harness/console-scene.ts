import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventStreamConnectorId } from '@penstock/wire'
import pg from 'pg'
import { writePeople } from '../../demo/people.ts'
import { type ConsoleStage, localFolder, postgresql } from './console.ts'
import { connectorBySlug } from './fixtures.ts'
import { basic } from './streams.ts'
import { until } from './until.ts'

/**
 * An organization as one meets it after some weeks: sub-accounts, connectors that are configured and that are not,
 * connections in every status, transfers with rejected records, and volume on every day.
 */
export type Scene = {
  readonly accountId: string
  /** A connection that works, except for some records. */
  readonly connectionId: string
  /** A partial transfer of it. */
  readonly transferId: string
  /** Both sides of a connection to be made. */
  readonly sourceId: string
  readonly destinationId: string
  /** A webhook whose receiver is out of reach. */
  readonly webhookId: string
  /** A sub-account with a consent purpose. */
  readonly purposesAccountId: string
  /** An event stream of that sub-account, with a write key. */
  readonly streamId: string
}

const people = 4_000
const days = 30

export async function prepareScene(stage: ConsoleStage): Promise<Scene> {
  const { client, folder, target } = stage
  await writePeople(join(folder, 'people.csv'), people)
  await writeFile(join(folder, 'orders.csv'), 'id,name,email,born,city,country\n')
  for (const table of ['people', 'newsletter', 'loyalty', 'orders']) {
    await target.query(
      `create table ${table} (id integer primary key, name text, email text not null, born date, city text, country char(2))`,
    )
  }
  const small = []
  for (const name of [
    'Summit Sports',
    'Northwind Retail',
    'Lakeside Hotels',
    'Greenleaf Grocery',
    'Brightwater Travel',
  ]) {
    small.push(await stage.addAccount(name))
  }
  const { id: accountId } = await stage.addAccount('Acme Outdoor')
  const purposesAccountId = small[4]?.id ?? ''
  const id = eventStreamConnectorId
  await client.addConnectors({ accountId: purposesAccountId, body: { connectorIds: [id] } })
  const shop = { name: 'Shop events', secretConfig: { receive: true } }
  const streamId = (await client.configureConnector({ accountId: purposesAccountId, id, body: shop })).reply
    .configurationId
  const { key } = (await client.createStreamKey({ accountId: purposesAccountId, id: streamId })).reply
  await client.sendTestEvent({ accountId: purposesAccountId, id: streamId })
  for (const authorization of [basic(key), basic('pwk_00000000000000000000000000000000')]) {
    await fetch(`${stage.url}/events/${streamId}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify([
        { messageId: 'order-7', event: 'Order Completed', userId: 'ada@example.com', properties: { total: 39.9 } },
        { messageId: 'order-7', event: 'Order Completed' },
      ]),
    })
  }
  const signals = [{ kind: 'values' as const, column: 'marketing_opt_in', values: ['yes'] }]
  await client.setPurposes({
    accountId: purposesAccountId,
    body: { purposes: [{ name: 'advertising', signals, uses: ['userData', 'personalization'] }] },
  })
  await client.editAccount({ id: small[2]?.id ?? '', body: { enabled: false } })
  for (const account of [small[1]?.id ?? '', accountId]) await stage.addSides(account)
  const others = ['amazon-s3-source', 'meta-custom-audiences', 'snowflake-source', 'google-data-manager-audiences']
  await client.addConnectors({ accountId, body: { connectorIds: others.map((slug) => connectorBySlug(slug).id) } })

  const httpApi = connectorBySlug('http-api').id
  await client.addConnectors({ accountId, body: { connectorIds: [httpApi] } })
  const definition =
    'streams:\n  orders:\n    path: /orders\n    query: { since: "{{ cursor.start }}" }\n    records: data\n    columns: [id, total]\n    pages: { by: cursor, parameter: after, at: meta.next }\n    cursor: { format: date, stepDays: 30 }\n'
  const secretConfig = { url: 'https://api.example.com/v2', definition }
  await client.configureConnector({ accountId, id: httpApi, body: { secretConfig } })
  const connect = (name: string, table: string, activate = true) => stage.connect(accountId, name, { table, activate })
  const newsletter = await connect('Newsletter subscribers', 'newsletter')
  const loyalty = await connect('Loyalty members to warehouse', 'loyalty')
  const main = await connect('Customers to warehouse', 'people')
  await connect('Spring campaign audience', 'people', false)
  const paused = await connect('Store visitors, weekly', 'people')
  await client.updateConnectionStatus({ accountId, id: paused.id, body: { action: 'disable' } })
  const gone = await connect('Black Friday 2025', 'people')
  await client.deleteConnection({ accountId, id: gone.id })
  const elsewhere = await stage.connect(small[1]?.id ?? '', 'Shop orders nightly', { table: 'orders' })
  await client.createConnection({
    accountId,
    body: {
      name: 'Lapsed customers to Meta',
      srcConnectorId: connectorBySlug('amazon-s3-source').id,
      destConnectorId: connectorBySlug('meta-custom-audiences').id,
    },
  })
  const { id: transferId } = await stage.run(accountId, main.id)
  await stage.run(small[1]?.id ?? '', elsewhere.id)
  await stage.run(accountId, loyalty.id)
  await stage.run(accountId, newsletter.id)
  await client.setSchedule({
    accountId,
    id: main.id,
    body: { cron: '0 6 * * *', timezone: 'Europe/Berlin', enabled: true },
  })
  // A table that is gone and a password that is wrong are what one finds in the morning.
  const wrong = await connect('Support contacts', 'people')
  await client.configureConnector({ accountId, id: postgresql.id, body: { secretConfig: { password: 'changed' } } })
  await stage.run(accountId, wrong.id)
  await client.configureConnector({
    accountId,
    id: postgresql.id,
    body: { secretConfig: { password: stage.targetSecrets.password ?? '' } },
  })
  await until('it is broken', async () => {
    const { reply } = await client.getConnection({ accountId, id: wrong.id })
    return reply.status === 'broken'
  })
  await addPast(stage.databaseUrl)
  const webhook = { url: 'https://example.com/penstock', description: 'On-call team' }
  const { id: webhookId } = (await client.createWebhook({ body: webhook })).reply
  await client.createWebhook({ body: { ...webhook, eventTypes: ['transfer.failed'], enabled: false } })
  await client.testWebhook({ id: webhookId })
  await addConnectLinks(stage, accountId)
  return {
    accountId,
    connectionId: main.id,
    transferId,
    sourceId: localFolder.id,
    destinationId: postgresql.id,
    webhookId,
    purposesAccountId,
    streamId,
  }
}

/** Branding, and links in several states. */
async function addConnectLinks({ client }: ConsoleStage, accountId: string): Promise<void> {
  const colours = { primary: '#0a5c36' }
  await client.setBranding({ body: { name: 'Acme', colours, allowedOrigins: ['https://shop.example.com'] } })
  const create = async (...slugs: string[]) => {
    const body = { accountId, connectorIds: slugs.map((slug) => connectorBySlug(slug).id), expiry: 86_400 }
    return (await client.createConnectLink({ body })).reply
  }
  const revoked = await create('meta-custom-audiences')
  await client.revokeConnectLink({ id: revoked.id })
  const used = await create('local-folder')
  const token = new URL(used.url).hash.slice(1)
  const { accessToken } = (await client.openConnectPage({ body: { token } })).reply
  await client.finishConnectPage({ body: { token: accessToken, outcome: 'completed' } })
  const opened = await create('meta-custom-audiences', 'google-data-manager-audiences')
  await client.openConnectPage({ body: { token: new URL(opened.url).hash.slice(1) } })
  await create('snowflake-source')
}

/** Sets a volume for each past day, similar to today's volume. Triggers update the sums (invariant 10). */
async function addPast(databaseUrl: string): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    await db.query(
      `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
       select transfer_id, number + 1000 * d, organization_id, account_id, connection_id, day - d,
         (n.accepted + n.rejected)::int, n.accepted::int, n.rejected::int, 0, (bytes * n.share)::bigint
       from ledger, generate_series(1, $1) d
       cross join lateral (select 0.75 + 0.35 * sin(d) + 0.1 * (d % 7) as share) s
       cross join lateral (
         select round(l.accepted * s.share) as accepted, round(l.rejected * s.share) as rejected, s.share
         from (select ledger.accepted, ledger.rejected) l
       ) n`,
      [days - 1],
    )
    await db.query(
      `update connections c set total_volume = l.read, used_volume = l.accepted, monthly_volume = l.month
       from (
         select connection_id, sum(read) as read, sum(accepted) as accepted,
           coalesce(sum(accepted) filter (where to_char(day, 'YYYY-MM') = to_char(now() at time zone 'UTC', 'YYYY-MM')), 0) as month
         from ledger group by 1
       ) l where l.connection_id = c.id`,
    )
    await db.query(
      `update accounts a set volume = l.accepted, monthly_volume = l.month
       from (
         select account_id, sum(accepted) as accepted,
           coalesce(sum(accepted) filter (where to_char(day, 'YYYY-MM') = to_char(now() at time zone 'UTC', 'YYYY-MM')), 0) as month
         from ledger group by 1
       ) l where l.account_id = a.id`,
    )
  } finally {
    await db.end()
  }
}
