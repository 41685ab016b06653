import { after } from 'node:test'
import type { Row } from '@penstock/connector'
import { acceptSource } from '@penstock/connector/acceptance'
import { startBigQueryServer, testServerName } from '../../test/bigquery-server.ts'
import type { Judged } from '../../test/failing-proxy.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { googleBigquerySource } from './google-bigquery-source.ts'

const bigQuery = await startBigQueryServer()
after(() => bigQuery.close())
const { proxy, routes, jsonKey, deletedKey } = bigQuery
await bigQuery.run(`
  create table crm.people as
  select i as id, case when i % 3 > 0 then 'Zoë ["' || i || '"]\\' || chr(10) end as name, i % 2 = 0 as member,
         i / 4 as score, (i / 4)::decimal(12, 2) as paid, date '2026-01-31' as day,
         timestamp '2026-01-31 12:00:00' + interval (i) microsecond as changed
    from range(1, 12001) as numbers(i) order by hash(i)`)

const rows = Array.from({ length: 12_000 }, (_, index): Row => {
  const id = index + 1
  const name = id % 3 === 0 ? null : `Zoë ["${id}"]\\\n`
  const changed = `2026-01-31T12:00:00.${String(id).padStart(6, '0').replace(/0+$/, '')}`
  return [id, name, id % 2 === 0, id / 4, (id / 4).toFixed(2), '2026-01-31', changed]
})
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
const errors = problemsOf(proxy, { slow: refused(403, 'rateLimitExceeded'), forbidden: refused(403, 'accessDenied') })

acceptSource({
  connector: googleBigquerySource,
  testServer: testServerName,
  settings,
  rows,
  context: { routes },
  secrets: { jsonKey },
  wrongSecrets: { jsonKey: deletedKey },
  hang: hangOf(proxy),
  missing: { ...settings, sqlQuery: 'select * from crm.absent' },
  columns: ['id', 'name', 'member', 'score', 'paid', 'day', 'changed'],
  errors: errors.map((problem) => ({
    ...problem,
    start: () => {
      problem.start()
      if (proxy.failure) proxy.failure = { ...proxy.failure, of: ofBigQuery }
    },
  })),
})
