import { after } from 'node:test'
import type { Row } from '@penstock/connector'
import { acceptSource } from '@penstock/connector/acceptance'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { startSnowflakeServer, testServerName } from '../../test/snowflake-server.ts'
import { snowflakeSource } from './snowflake-source.ts'

const snowflake = await startSnowflakeServer()
after(() => snowflake.close())
const { proxy, routes, keyPair, accessToken } = snowflake
await snowflake.run(`
  create table "SALES"."PUBLIC"."PEOPLE" as
  select i as "ID", case when i % 3 > 0 then 'Zoë ["' || i || '"]\\' || chr(10) end as "NAME", i % 2 = 0 as "MEMBER",
         i / 4 as "SCORE", (i / 4)::decimal(12, 2) as "PAID", date '2026-01-31' as "DAY",
         timestamp '2026-01-31 12:00:00' + interval (i) microsecond as "CHANGED"
    from range(1, 12001) as numbers(i) order by hash(i)`)

const rows = Array.from({ length: 12_000 }, (_, index): Row => {
  const id = index + 1
  const fraction = String(id).padStart(6, '0').replace(/0+$/, '')
  const name = id % 3 === 0 ? null : `Zoë ["${id}"]\\\n`
  return [id, name, id % 2 === 0, id / 4, (id / 4).toFixed(2), '2026-01-31', `2026-01-31T12:00:00.${fraction}`]
})
const settings = {
  dataSourceType: 'Table Reference',
  warehouse: 'load_wh',
  database: 'sales',
  schema: 'public',
  table: 'people',
  syncMode: 'Full',
  keyColumns: 'id',
}
const refused = (status: number, code: string) => ({ status, body: JSON.stringify({ code, message: 'No.' }) })

for (const [name, secrets, wrongSecrets] of [
  ['key pair', keyPair, { ...keyPair, privateKey: snowflake.strangeKey }],
  ['programmatic access token', accessToken, { ...accessToken, password: 'quite another password' }],
] as const) {
  acceptSource({
    connector: snowflakeSource,
    testServer: `${testServerName}, by ${name}`,
    secrets,
    wrongSecrets,
    settings,
    rows,
    missing: { ...settings, table: 'absent' },
    incremental: { ...settings, syncMode: 'Incremental', markerColumn: 'ID', markerType: 'Numeric' },
    columns: ['ID', 'NAME', 'MEMBER', 'SCORE', 'PAID', 'DAY', 'CHANGED'],
    errors: problemsOf(proxy, { slow: refused(429, '390000'), forbidden: refused(403, '390422') }),
    hang: hangOf(proxy),
    context: { routes },
  })
}
