import { after } from 'node:test'
import { acceptSource } from '@penstock/connector/acceptance'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { createPeople, readColumns, readPeople } from '../../test/people-tables.ts'
import { startSnowflakeServer, testServerName } from '../../test/snowflake-server.ts'
import { snowflakeSource } from './snowflake-source.ts'

const snowflake = await startSnowflakeServer()
after(() => snowflake.close())
const { proxy, routes, keyPair, accessToken } = snowflake
await snowflake.run(createPeople('"SALES"."PUBLIC"."PEOPLE"', (name) => `"${name.toUpperCase()}"`))

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
    rows: readPeople(),
    missing: { ...settings, table: 'absent' },
    incremental: { ...settings, syncMode: 'Incremental', markerColumn: 'ID', markerType: 'Numeric' },
    columns: readColumns.map((name) => name.toUpperCase()),
    errors: problemsOf(proxy, { slow: refused(429, '390000'), forbidden: refused(403, '390422') }),
    hang: hangOf(proxy),
    context: { routes },
  })
}
