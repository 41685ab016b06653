import { after } from 'node:test'
import { startPostgresql } from '../../test/postgresql.ts'
import { testWindows } from '../../test/test-windows.ts'
import { postgresql } from './postgresql.ts'

const { secrets, query, close, version } = await startPostgresql()
after(() => close())

testWindows(`windows of rows in PostgreSQL ${version}`, {
  connector: postgresql,
  secrets,
  settings: { schema: 'crm' },
  table: 'crm.t',
  textType: 'text',
  dayText: 'day::text',
  query,
  clear: async () => void (await query('drop schema crm cascade; create schema crm')),
})
