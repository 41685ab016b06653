import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEgress } from '@penstock/connector/egress'
import { addDays, todayIn } from '../packages/connectors/src/kit/report-days.ts'
import { startBigQueryServer } from '../packages/connectors/test/bigquery-server.ts'
import { startClickHouseServer } from '../packages/connectors/test/clickhouse-server.ts'
import { startDatabricksServer } from '../packages/connectors/test/databricks-server.ts'
import { startSnowflakeServer } from '../packages/connectors/test/snowflake-server.ts'
import { startEngine } from './harness/engine.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { reportKey, reportSides, startReportPlatform } from './harness/report-platform.ts'
import { localFolder, postgresql } from './harness/transfers.ts'

/** A report source restates yesterday: the rows of each warehouse are right after the second transfer, and nothing is there twice. */

const daysAgo = (count: number) => addDays(todayIn('UTC'), -count)
const columns = 'day date not null, account varchar not null, campaign varchar not null, clicks int'

const warehouses = {
  'google-bigquery-destination': async () => {
    const server = await startBigQueryServer()
    const settings = { projectId: 'example-project', dataset: 'crm', table: 'reports' }
    return { server, secrets: { jsonKey: server.jsonKey }, settings, table: 'crm.reports', key: '' }
  },
  'databricks-destination': async () => {
    const server = await startDatabricksServer()
    const settings = { warehouse: 'wh1', catalog: 'main', schema: 'crm', table: 'reports', volume: 'landing' }
    return { server, secrets: server.secrets, settings, table: 'crm.reports', key: '' }
  },
  'clickhouse-destination': async () => {
    const server = await startClickHouseServer()
    const settings = { database: 'crm', table: 'reports' }
    const key = `, primary key (${reportKey})`
    return { server, secrets: server.secrets, settings, table: 'crm.reports', key }
  },
  'snowflake-destination': async () => {
    const server = await startSnowflakeServer()
    const settings = { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 'reports' }
    return { server, secrets: server.keyPair, settings, table: '"SALES"."PUBLIC"."REPORTS"', key: '' }
  },
}

for (const [slug, start] of Object.entries(warehouses)) {
  test(`a platform that restates yesterday has each row once in ${slug}`, async (t) => {
    const engine = await startEngine()
    t.after(() => engine.close())
    const platform = await startReportPlatform()
    t.after(() => platform.close())
    const { server, secrets, settings, table, key } = await start()
    t.after(() => server.close())
    const run = async (text: string) => ((await server.run(text)) as { rows: unknown[][] }).rows
    await run(`create table ${table} (${columns}${key})`)
    const reading = { accountIds: '100,101,900', startDate: daysAgo(5), lookBackDays: 3 }
    const deliver = connectorBySlug(slug).destination?.deliver
    assert(deliver)
    const egress = createEgress({ networkPolicy: 'any', routes: server.routes })
    const upsert = { writeMode: 'Upsert', keyColumns: reportKey }
    Object.assign(engine.sides, reportSides(platform.url, reading), {
      destination: {
        ...deliver,
        open: (context) => deliver.open({ ...context, egress, secrets, settings: { ...settings, ...upsert } }),
        inspect: async () => [],
      },
    } satisfies Partial<typeof engine.sides>)
    const connectionId = await engine.connect(localFolder, { files: 'any.csv' }, postgresql, {
      ...upsert,
      table: 'any',
    })
    const kept = async () =>
      (await run(`select day || ' ' || account || ' ' || campaign || ' ' || clicks from ${table} order by 1`)).map(
        ([row]) => String(row),
      )
    const expected = (figures: typeof platform.figures) =>
      ['100', '101']
        .flatMap((account) =>
          Array.from({ length: 6 }, (_, index) => daysAgo(index)).flatMap((day) =>
            Object.entries(figures(account, day)).map(([name, clicks]) => `${day} ${account} ${name} ${clicks}`),
          ),
        )
        .sort()
    const before = (account: string, day: string) => ({ a: Number(day.slice(-2)), [`it's ${account}`]: 1, gone: 3 })
    platform.figures = before
    const first = await engine.move(connectionId)
    // One account is refused.
    assert.deepEqual([first.status, first.records.accepted, first.records.rejected], ['partial', 36, 1])
    assert.deepEqual(await kept(), expected(before))

    const yesterday = daysAgo(1)
    const now = (account: string, day: string): Record<string, number> =>
      day !== yesterday ? before(account, day) : account === '100' ? {} : { a: 500, 'is new': 7 }
    platform.figures = now
    assert.equal((await engine.move(connectionId)).status, 'partial')
    assert.deepEqual(await kept(), expected(now))
    await assertInvariants(engine.service.database.pool)
  })
}
