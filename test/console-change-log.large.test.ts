import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Account } from '@penstock/wire'
import pg from 'pg'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, postgresql, preparePeople, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

/** The log that a server keeps for a connection, as people see it. A test writes the figures that a worker would measure. */

describe('the log of a connection in the console', { skip }, () => {
  let stage: ConsoleStage
  let account: Account
  let db: pg.Client
  before(async () => {
    stage = await startConsole()
    account = await stage.addAccount('Northwind Outdoor')
    await stage.addSides(account.id)
    await preparePeople(stage, 10)
    db = new pg.Client({ connectionString: stage.databaseUrl })
    await db.connect()
  })
  afterEach(() => stage.closePages())
  after(async () => {
    await db?.end()
    await stage?.close()
  })

  const connect = async (name: string) => {
    const { id: connectorId } = postgresql
    const srcConnectionConfig = {
      schema: 'crm',
      table: 'people',
      syncMode: 'Changes',
      publication: 'crm',
      slot: 'slot',
    }
    const destConnectionConfig = { schema: 'public', table: 'people', writeMode: 'Upsert', keyColumns: 'email' }
    const sides = {
      srcConnectorId: connectorId,
      destConnectorId: connectorId,
      srcConnectionConfig,
      destConnectionConfig,
    }
    const { reply } = await stage.client.createConnection({ accountId: account.id, body: { name, ...sides } })
    const of = { accountId: account.id, id: reply.id }
    await stage.client.updateConnectionStatus({ ...of, body: { action: 'activate' } })
    return of
  }
  const note = async (connectionId: string, more: Readonly<Record<string, unknown>>) => {
    const values = { measured_time: new Date(), next_time: '2099-01-01', status: 'reserved', ...more }
    const names = Object.keys(values)
    await db.query(
      `insert into change_logs (connection_id, configuration_id, server, organization_id, account_id, connector_id, ${names.join(', ')})
       select id, src_configuration_id, 'db.example.com:5432/crm', organization_id, account_id, src_connector_id,
         ${names.map((_, at) => `$${at + 2}`).join(', ')} from connections where id = $1`,
      [connectionId, ...Object.values(values)],
    )
  }

  test('is shown with what it means, and its slot can be dropped', async () => {
    const { accountId, id } = await connect('People of the CRM')
    await note(id, {
      slot: 'penstock_people',
      kept_bytes: 12_000_000_000,
      limit_bytes: 20_000_000_000,
      behind_bytes: 4_000_000,
      delivered_time: new Date(Date.now() - 7_200_000),
      warns: true,
    })
    await note(id, {
      slot: 'penstock_old',
      leaving_since: new Date(),
      stays: true,
      problem: 'Something else reads from it.',
    })
    const page = await stage.open(`/accounts/${accountId}/connections/${id}?part=configuration`)
    await page.getByRole('tab', { name: 'Configuration' }).click()
    const log = page.getByRole('region', { name: 'Change log' })
    await log.getByText('Replication slot penstock_people at db.example.com:5432/crm').waitFor()
    assert.match(
      (await log.textContent()) ?? '',
      /keeps 12 GB of its log for this connection\. Its limit is 20 GB\. 4 MB left to read/,
    )
    assert.match((await log.textContent()) ?? '', /up to 2 hours ago/)
    await page.getByText("SELECT pg_drop_replication_slot('penstock_old');").waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await log.scrollIntoViewIfNeeded()

    // Before a connection is disabled or deleted, the dialog says what becomes of the slot.
    await page.getByRole('button', { name: 'Disable', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByText('still keeps its log for the replication slot penstock_people (12 GB now)')
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable', exact: true }).click()
    await page
      .getByText('grows with each change of any table until you enable the connection or drop the slot')
      .waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByText('for another 30 days. Then Penstock drops the slot').waitFor()
    await page.keyboard.press('Escape')

    await log.getByRole('button', { name: 'Drop the slot' }).click()
    await page.getByRole('dialog').getByText('copies the whole table').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Drop the slot' }).click()
    await page.getByText('penstock_people at db.example.com:5432/crm is being dropped.').waitFor()
    const { reply } = await stage.client.getConnectionState({ accountId, id })
    assert.deepEqual([reply.changeLog, reply.leftSlots?.length], [undefined, 2])
  })

  test('that is lost has a button that copies the table again, as a mirror if that is wanted', async () => {
    const connection = await stage.connect(account.id, 'Lost')
    const of = { accountId: account.id, id: connection.id }
    await stage.run(account.id, connection.id)
    const destConnectionConfig = { schema: 'public', table: 'people', writeMode: 'Upsert', keyColumns: 'email' }
    await stage.client.updateConnection({ ...of, body: { destConnectionConfig } })
    await db.query(
      `update transfers set status = 'failed', error_code = 'changes_lost', error_side = 'Source',
         error_message = 'The replication slot was dropped. Reset the state of the connection.'
       where connection_id = $1`,
      [connection.id],
    )
    await db.query(`update connections set status = 'broken' where id = $1`, [connection.id])
    const page = await stage.open(`/accounts/${account.id}/connections/${connection.id}`)
    await page.getByRole('button', { name: 'Reset and copy again' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('stay at the destination. Remove them there first').waitFor()
    assert(await dialog.getByRole('checkbox', { name: 'Mirror from now on' }).isChecked())
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Reset and copy again' }).click()
    await page.getByText('Lost is being copied again').waitFor()
    const { reply } = await stage.client.getConnection(of)
    assert.equal(reply.destConnectionConfig.sendRows, 'Mirror')
    const { total } = await stage.client.listTransfers({ ...of, query: { size: 1 } })
    assert.equal(total, 2)
  })

  test('the form of a connector says whose state starts anew', async () => {
    const { id } = await connect('Keeps a state')
    await db.query(`insert into connection_states (connection_id, cursor_sealed) values ($1, '\\x00')`, [id])
    const page = await stage.open(`/accounts/${account.id}/connectors?configure=${postgresql.id}`)
    const host = page.getByRole('textbox', { name: 'Host' })
    await host.waitFor()
    const saved = await host.inputValue()
    const warning = page.getByRole('alert').filter({ hasText: 'Connections read everything again' })
    await page.getByRole('textbox', { name: 'User', exact: true }).fill('another')
    assert.equal(await warning.count(), 0)
    await host.fill('db.example.com')
    await warning.getByText(/^You changed Host, so (1 connection reads|\d connections read) everything again/).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await host.fill(saved)
    await warning.waitFor({ state: 'detached' })
  })

  test('is a reason for attention', async () => {
    const { id, accountId } = await connect('Log grows')
    await note(id, { slot: 'penstock_grows', kept_bytes: 30_000_000_000, warns: true })
    const page = await stage.open(`/accounts/${accountId}`)
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText('The server of the source keeps a large log').first().waitFor()
    await until('the badge', async () => /Log growing/.test((await attention.textContent()) ?? ''))
  })
})
