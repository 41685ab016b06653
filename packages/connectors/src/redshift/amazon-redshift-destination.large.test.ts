import { after } from 'node:test'
import type { Row } from '@penstock/connector'
import { acceptDestination } from '@penstock/connector/acceptance'
import { failuresOf } from '../../test/database-proxy.ts'
import { badPeople, peopleColumns, peopleRows } from '../../test/people-tables.ts'
import { stagingBucket, startRedshiftServer, testServerName } from '../../test/redshift-server.ts'
import { refuse } from '../../test/s3-signature.ts'
import { amazonRedshiftDestination } from './amazon-redshift-destination.ts'

const redshift = await startRedshiftServer()
after(() => redshift.close())
const { proxy, routes, secrets, query, s3 } = redshift
const settings = { schema: 'crm', table: 'people', stagingPath: `s3://${stagingBucket}/load`, writeMode: 'Append' }
const reset = () =>
  query(`drop schema crm cascade; create schema crm;
    create table crm.people (changed timestamptz, id bigint not null, name varchar(20), member boolean, paid numeric(12, 2), day date)`)
await reset()
const readBack = async (): Promise<Row[]> => {
  const found = await query(
    `select id::int, name, member, paid::text, day::text, to_char(changed at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as changed from crm.people`,
  )
  return found.map(({ id, name, member, paid, day, changed }) => [id, name, member, paid, day, changed])
}
const { errors, hang } = failuresOf(proxy, { breaksAfterBytes: 0 })

acceptDestination({
  connector: amazonRedshiftDestination,
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, password: 'quite another secret' },
  settings,
  columns: peopleColumns,
  rows: peopleRows(40, '\\N'),
  readBack,
  reset,
  missing: { ...settings, schema: 'absent' },
  badRows: [
    ...badPeople,
    { row: [3, 'ö'.repeat(11), true, '1', '2026-01-31', null], reason: /too long/, field: 'Name' },
  ],
  deduplicates: true,
  visible: 'at once',
  errors: [
    ...errors,
    {
      name: 'cannot read the bucket',
      start: () => {
        redshift.copyFailure = 'S3ServiceException:Access Denied,Status 403,Error AccessDenied'
      },
      stop: () => {
        redshift.copyFailure = undefined
      },
      action: 'reconfigure',
      code: 'permission_denied',
    },
    {
      name: 'is behind a bucket that asks to slow down',
      start: () => {
        s3.proxy.failure = { what: refuse(503, 'SlowDown') }
      },
      stop: () => {
        s3.proxy.failure = undefined
      },
      action: 'retry',
      code: 'rate_limited',
    },
  ],
  hang,
  context: { routes },
})
