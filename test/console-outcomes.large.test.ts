import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, startConsole } from './harness/console.ts'
import { personAt } from './harness/person.ts'
import { until } from './harness/until.ts'

/** Outcomes of rows in the console (docs/outcomes.md). */

describe('outcomes in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  test('are recorded with a few clicks, and written to a table', async () => {
    const { client, target } = stage
    const { id: accountId } = await stage.addAccount('Outcomes')
    await client.addConnectors({ accountId, body: { connectorIds: [localFolder.id, postgresql.id] } })
    const configure = (id: string, secretConfig: Record<string, string | number>) =>
      client.configureConnector({ accountId, id, body: { secretConfig } })
    await configure(localFolder.id, { folder: stage.folder })
    await configure(postgresql.id, stage.targetSecrets)
    await writeFile(join(stage.folder, 'orders.csv'), 'id,total\n1,10\n2,x\n')
    await target.query('create table orders (id int primary key, total int)')
    const body = {
      name: 'Orders',
      srcConnectorId: localFolder.id,
      destConnectorId: postgresql.id,
      srcConnectionConfig: { files: 'orders.csv' },
      destConnectionConfig: { table: 'orders', writeMode: 'Insert' },
    }
    const { id } = (await client.createConnection({ accountId, body })).reply
    await client.updateConnectionStatus({ accountId, id, body: { action: 'activate' } })

    const page = await stage.open(`/accounts/${accountId}/connections/${id}?tab=configuration`)
    const me = personAt(page)
    const card = page.getByRole('region', { name: 'Outcomes of rows' })
    await card.getByText('Outcomes are not recorded.').waitFor()
    await me.click(card.getByRole('button', { name: 'Record outcomes' }))
    const dialog = page.getByRole('dialog')
    await me.type(dialog.getByLabel('Columns in outcomes').first(), 'id,')
    assert.deepEqual(await accessibilityViolations(page), [])
    await me.click(dialog.getByRole('button', { name: 'Save' }))
    await card.getByText('Recorded in').waitFor()
    await card.getByText('Columns: id').waitFor()

    await client.startTransfer({ accountId, id, body: {} })
    await me.click(card.getByRole('button', { name: 'Read outcomes' }))
    await me.click(page.getByRole('button', { name: /^PostgreSQL/ }))
    await me.click(page.getByRole('button', { name: 'Create the connection' }))
    await me.click(page.getByRole('button', { name: 'Continue to review' }))
    await me.click(page.getByRole('button', { name: 'Activate and run' }))
    const rows = await until('the outcomes are in the table', async () => {
      const found = await target.query(
        `select table_name as name from information_schema.tables where table_name like '%outcomes%'`,
      )
      if (found.rowCount === 0) return undefined
      const { rows } = await target.query(`select outcome, key from "${found.rows[0].name}" order by number`)
      return rows.length === 2 ? rows : undefined
    })
    assert.deepEqual(rows, [
      { outcome: 'accepted', key: { id: '1' } },
      { outcome: 'rejected', key: { id: '2' } },
    ])
    me.assertAtMost({ clicks: 7, typed: 1 })
  })
})
