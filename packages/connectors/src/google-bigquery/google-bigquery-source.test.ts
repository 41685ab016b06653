import { after } from 'node:test'
import { acceptSource } from '@penstock/connector/acceptance'
import { startBigQueryServer, testServerName } from '../../test/bigquery-server.ts'
import type { Judged } from '../../test/failing-proxy.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { createPeople, readColumns, readPeople } from '../../test/people-tables.ts'
import { googleBigquerySource } from './google-bigquery-source.ts'

const bigQuery = await startBigQueryServer()
after(() => bigQuery.close())
const { proxy, routes, jsonKey, deletedKey } = bigQuery
await bigQuery.run(createPeople())

const settings = {
  projectId: 'example-project',
  dataset: 'crm',
  table: 'people',
  keyColumns: 'id',
  sqlQuery: 'select * from crm.people -- all of them\n;',
}
const refused = (code: number, reason: string) => ({
  status: code,
  body: JSON.stringify({ error: { code, message: 'No.', errors: [{ domain: 'global', reason, message: 'No.' }] } }),
})
const ofBigQuery = ({ headers }: Judged) => headers.host === 'bigquery.googleapis.com'

acceptSource({
  connector: googleBigquerySource,
  testServer: testServerName,
  settings,
  rows: readPeople(),
  context: { routes },
  secrets: { jsonKey },
  wrongSecrets: { jsonKey: deletedKey },
  hang: hangOf(proxy),
  missing: { ...settings, sqlQuery: 'select * from crm.absent' },
  columns: readColumns,
  errors: problemsOf(
    proxy,
    { slow: refused(403, 'rateLimitExceeded'), forbidden: refused(403, 'accessDenied') },
    ofBigQuery,
  ),
})
