import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Account, Connection } from '@penstock/wire'
import pg from 'pg'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import {
  type ConsoleStage,
  localFolder,
  openValues,
  postgresql,
  prepareCrowd,
  prepareLocked,
  preparePeople,
  startConsole,
} from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'

/** A server that accepts connections and never responds. */
async function startSilentServer() {
  const sockets = new Set<Socket>()
  const server = createServer()
  const reached = once(server, 'connection')
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    reached,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('a connection in the console', { skip }, () => {
  let stage: ConsoleStage
  let account: Account
  before(async () => {
    stage = await startConsole()
    account = await stage.addAccount('Northwind Outdoor')
    await stage.addSides(account.id)
    await preparePeople(stage, 200)
    await prepareCrowd(stage)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const pathOf = ({ accountId, id }: Connection) => `/accounts/${accountId}/connections/${id}`
  const connect = (name: string, options?: Parameters<ConsoleStage['connect']>[2]) =>
    stage.connect(account.id, name, options)
  const crowd = (name: string) => connect(name, { file: 'crowd.csv', table: 'crowd' })
  const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true })
  const dialog = (page: Page) => page.getByRole('dialog')
  const statusOf = async ({ accountId, id }: Connection) =>
    (await stage.client.getConnection({ accountId, id })).reply.status
  /** Why a control cannot be used. Undefined if it can. */
  const reasonOf = async (control: Locator): Promise<string | undefined> => {
    if ((await control.getAttribute('aria-disabled')) !== 'true') return undefined
    const id = await control.getAttribute('aria-describedby')
    return (await control.page().locator(`[id="${id}"]`).first().textContent()) ?? ''
  }
  const menu = async (page: Page) => {
    await button(page, 'More actions').click()
    await page.getByRole('menu').waitFor()
  }
  const item = (page: Page, name: string) => page.getByRole('menuitem', { name: new RegExp(`^${name}`) })
  const choose = async (page: Page, name: string) => {
    await menu(page)
    await item(page, name).click()
  }

  test('says which way the rows of the latest transfer went, if there is more than one', async () => {
    const connection = await connect('By reference')
    const { id: transferId } = await stage.run(account.id, connection.id)
    const page = await stage.open(pathOf(connection))
    await page.getByText('By reference').first().waitFor()
    assert.equal(await page.getByLabel('Path of the rows').count(), 0)
    const snowflake = connectorBySlug('snowflake-destination').id
    await stage.client.addConnectors({ accountId: account.id, body: { connectorIds: [snowflake] } })
    const text = 'Rows pass a worker, because the mapping changes values of email.'
    const db = new pg.Client({ connectionString: stage.databaseUrl })
    await db.connect()
    await db.query(
      `update connections c set dest_connector_id = $2, dest_configuration_id = f.id
       from configurations f where c.id = $1 and f.account_id = c.account_id and f.connector_id = $2`,
      [connection.id, snowflake],
    )
    await db.query(`update transfer_logs set lines = lines || $2::jsonb where transfer_id = $1`, [
      transferId,
      JSON.stringify([{ ms: Date.now(), kind: 'route', text }]),
    ])
    await db.end()
    await page.reload()
    const line = page.getByLabel('Path of the rows')
    await line.waitFor()
    assert.equal(await line.textContent(), text)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('sends rows as a test, says where they go, and shows in place what became of them', async () => {
    await stage.target.query('create table tested (id integer primary key, name text, email text not null)')
    const connection = await connect('Tested', { table: 'tested' })
    const page = await stage.open(pathOf(connection))
    await choose(page, 'Send rows as a test')
    const rows = dialog(page).getByRole('textbox', { name: 'Rows to send' })
    await dialog(page).getByText('The next rows of Local folder are sent to PostgreSQL and stay there.').waitFor()
    for (const wrong of ['0', '1001', '']) {
      await rows.fill(wrong)
      await button(dialog(page), 'Send rows as a test').click()
      await dialog(page).getByText('Enter a number from 1 to 1,000.').waitFor()
    }
    assert.equal((await stage.client.listTransfers({ accountId: connection.accountId, id: connection.id })).total, 0)
    await rows.fill('10')
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(dialog(page), 'Send 10 rows as a test').click()
    await dialog(page).getByText('The destination did not accept all rows').waitFor()
    await dialog(page).getByText('10 read = 9 accepted + 1 rejected').waitFor({ state: 'attached' })
    await dialog(page)
      .getByRole('listitem')
      .filter({ hasText: 'Row 10: There is no value for the column email' })
      .waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal((await stage.target.query('select from tested')).rowCount, 9)
    await button(dialog(page), 'Close').last().click()
    await dialog(page).waitFor({ state: 'detached' })
    // A test is no transfer of the overview.
    await page.getByText('No transfers yet').waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByRole('link', { name: 'Test: partial' }).waitFor()
    await page.getByRole('tab', { name: 'Transfers' }).click()
    const open = page.getByRole('link', { name: 'Open the test: Partial' })
    await open.getByText('Test', { exact: true }).waitFor()
    await open.click()
    await page.getByText('This is a test. Its records were sent').waitFor()
    assert.match((await reasonOf(button(page, 'Resend rejected rows'))) ?? '', /^A test is not resent/)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('says why no rows can be sent as a test', async () => {
    const connection = await connect('Untested', { activate: false })
    const page = await stage.open(pathOf(connection))
    await menu(page)
    await item(page, 'Send rows as a test').getByText('The connection is not active').waitFor()
  })

  test('shows its source, destination and status, and describes them in text for screen readers', async () => {
    const connection = await connect('Spring customers')
    const page = await stage.open(pathOf(connection))
    await page
      .getByText(
        'Rows go from Local folder (not checked) to PostgreSQL (not checked). Active: Open. Nothing moves now.',
      )
      .waitFor({ state: 'attached' })
    await page.getByText('Files: people.csv').waitFor()
    await page.getByText('No transfers yet').waitFor()
    assert.equal(await page.title(), 'Spring customers · Penstock')
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('says what is missing before it can be activated, and links to where it is added', async () => {
    const bare = await stage.addAccount('Bare')
    const accountId = bare.id
    await stage.client.addConnectors({ accountId, body: { connectorIds: [localFolder.id, postgresql.id] } })
    const { reply: connection } = await stage.client.createConnection({
      accountId,
      body: { name: 'Unfinished', srcConnectorId: localFolder.id, destConnectorId: postgresql.id },
    })
    const page = await stage.open(pathOf(connection))
    await button(page, 'Activate').click()
    const alert = page.getByRole('alert').filter({ hasText: 'Not ready yet' })
    await alert.getByText('is not configured').first().waitFor()
    const configure = alert.getByRole('link', { name: 'Configure PostgreSQL' })
    const { reply: details } = await stage.client.getConnection({ accountId, id: connection.id })
    const { destConfigurationId } = details
    assert.equal(
      await configure.getAttribute('href'),
      `/accounts/${accountId}/connectors?configure=${postgresql.id}&configuration=${destConfigurationId}`,
    )
    assert.match((await alert.textContent()) ?? '', /Request [0-9a-f-]{8,}/)
    assert.deepEqual(await accessibilityViolations(page), [])
    await alert.getByRole('button', { name: 'Complete the settings' }).first().click()
    await dialog(page).getByRole('textbox', { name: 'Files' }).waitFor()
    assert.equal(await statusOf(connection), 'In-progress')
  })

  test('says of each action that is impossible why it is, and does the others', async () => {
    const connection = await connect('Loyalty', { activate: false })
    const page = await stage.open(pathOf(connection))
    const run = button(page, 'Run now')
    await run.waitFor()
    assert.match((await reasonOf(run)) ?? '', /The connection is not active/)
    await run.hover()
    await page.getByRole('tooltip').getByText('The connection is not active').waitFor()
    await button(page, 'Activate').click()
    await button(page, 'Disable').waitFor()
    assert.equal(await statusOf(connection), 'active')
    assert.equal(await reasonOf(run), undefined)
    await menu(page)
    assert.equal(await reasonOf(item(page, 'Activate')), 'The connection is already active.')
    assert.match((await reasonOf(item(page, 'Enable'))) ?? '', /Only disabled connections can be enabled/)
    assert.equal(await reasonOf(item(page, 'Disable')), undefined)
    await item(page, 'Disable').click()
    await button(dialog(page), 'Disable').click()
    await button(page, 'Enable').waitFor()
    assert.equal(await statusOf(connection), 'disabled')
    await page
      .getByText('Disabled: No rows move until you enable the connection.')
      .first()
      .waitFor({ state: 'attached' })
    await button(page, 'Enable').click()
    await until('it is active again', async () => (await statusOf(connection)) === 'active')
  })

  test('is previewed before it is activated, and activated all the same where its reader wants that', async () => {
    const connection = await connect('Asked first', { activate: false, table: 'not_there' })
    const page = await stage.open(pathOf(connection))
    await button(page, 'Activate').click()
    await dialog(page).getByText('There is no table not_there in the schema public').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(dialog(page), 'Cancel').click()
    await dialog(page).waitFor({ state: 'detached' })
    assert.equal(await statusOf(connection), 'In-progress')
    await button(page, 'Activate').click()
    await button(dialog(page), 'Activate anyway').click()
    await button(page, 'Disable').waitFor()
    assert.equal(await statusOf(connection), 'active')
  })

  test('is activated without waiting for a destination that does not answer', async () => {
    const silent = await startSilentServer()
    try {
      const slow = await stage.addAccount('Slow')
      await stage.addSides(slow.id)
      const secretConfig = { ...stage.targetSecrets, host: '127.0.0.1', port: silent.port }
      await stage.client.configureConnector({ accountId: slow.id, id: postgresql.id, body: { secretConfig } })
      const connection = await stage.connect(slow.id, 'Waits for nothing', { activate: false })
      const page = await stage.open(pathOf(connection))
      await button(page, 'Activate').click()
      await dialog(page).getByText('Previewing the connection').waitFor()
      await silent.reached
      await button(dialog(page), 'Activate without preview').click()
      await button(page, 'Disable').waitFor()
      assert.equal(await statusOf(connection), 'active')
    } finally {
      await silent.close()
    }
  })

  test('cannot run while its sub-account is disabled, and says so', async () => {
    const closed = await stage.addAccount('Closed')
    await stage.addSides(closed.id)
    const connection = await stage.connect(closed.id, 'Waiting')
    await stage.client.editAccount({ id: closed.id, body: { enabled: false } })
    const page = await stage.open(pathOf(connection))
    await until('the reason is there', async () =>
      /sub-account is disabled/.test((await reasonOf(button(page, 'Run now'))) ?? ''),
    )
  })

  test('runs, and shows how many records came through', async () => {
    const connection = await connect('Newsletter')
    const page = await stage.open(pathOf(connection))
    await button(page, 'Run now').click()
    await page.getByText('A transfer of Newsletter was started').waitFor()
    const funnel = page.locator('dl').filter({ hasText: 'from the source' })
    await funnel.getByText('180', { exact: false }).waitFor()
    await page.getByText('Partial').first().waitFor()
    await page.getByRole('status').getByRole('link', { name: 'See rejected rows' }).waitFor()
    assert.match((await funnel.textContent()) ?? '', /Read.*200.*Sent.*200.*Accepted.*180.*90%.*Rejected.*20.*10%/)
    await page.getByText('Last 30 days', { exact: true }).click()
    await until('the month adds up', async () => /Read.*200.*Accepted.*180/.test((await funnel.textContent()) ?? ''))
    await page.getByRole('img', { name: /180 .*accepted|accepted.*180|180/ }).waitFor()
    await page.getByRole('tab', { name: 'Transfers' }).click()
    await page.waitForURL('**?tab=transfers')
    const row = page.getByRole('row').filter({ hasText: 'Partial' })
    assert.match((await row.textContent()) ?? '', /200.*180.*20/)
    const rejected = page.getByRole('columnheader', { name: 'Rejected' })
    await rejected.getByRole('button').click()
    await page.waitForURL('**?tab=transfers&sort=-rejected')
    await until('it is sorted', async () => (await rejected.getAttribute('aria-sort')) === 'descending')
    await row.waitFor()
    await pick(page.getByRole('combobox', { name: 'Status' }), 'Failed')
    await page.getByText('No transfers with this status').waitFor()
    assert.match(page.url(), /status=failed/)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('shows the progress of a transfer, and can cancel it', async () => {
    const connection = await crowd('Crowd')
    const page = await stage.open(pathOf(connection))
    await button(page, 'Run now').click()
    const live = page.getByText(/[1-9][\d,]* read so far/)
    await live.waitFor()
    const first = await live.textContent()
    await until('the figures change', async () => (await live.textContent()) !== first)
    await page.getByRole('progressbar', { name: 'Progress of the transfer' }).first().waitFor()
    assert.equal(await reasonOf(button(page, 'Run now')), 'A transfer is already active.')
    await button(page, 'Cancel the transfer').click()
    await button(dialog(page), 'Cancel the transfer').click()
    await page.getByText('The transfer was cancelled').waitFor()
    await live.waitFor({ state: 'detached' })
    const { reply } = await stage.client.listTransfers({ accountId: account.id, id: connection.id })
    assert.equal(reply[0]?.status, 'cancelled')
    await until('it may run again', async () => (await reasonOf(button(page, 'Run now'))) === undefined)
  })

  test('says that disabling it cancels its transfer, and updates its other open pages without a reload', async () => {
    const connection = await crowd('Interrupted')
    const page = await stage.open(pathOf(connection))
    const watching = await stage.open(pathOf(connection))
    await button(page, 'Run now').click()
    await page.getByText(/[1-9][\d,]* read so far/).waitFor()
    await watching.getByText(/[1-9][\d,]* read so far/).waitFor()
    await button(page, 'Disable').click()
    await dialog(page).getByText('A queued or running transfer is cancelled').waitFor()
    await button(dialog(page), 'Disable').click()
    await button(watching, 'Enable').waitFor()
    await watching.getByText('Disabled', { exact: true }).first().waitFor()
    const cancelled = await until('the transfer is cancelled', async () => {
      const { reply } = await stage.client.listTransfers({ accountId: account.id, id: connection.id })
      return reply[0]?.status === 'cancelled' ? reply[0] : undefined
    })
    assert.equal(cancelled.error?.code, 'connection_not_active')
    await watching.getByText('read so far').waitFor({ state: 'detached' })
  })

  test('shows the temporary error of a transfer while it retries, as does the overview', async () => {
    await prepareLocked(stage)
    const connection = await connect('Held up', { table: 'locked' })
    await stage.client.startTransfer({ accountId: account.id, id: connection.id, body: {} })
    const page = await stage.open(pathOf(connection))
    const alert = page.getByRole('alert').filter({ hasText: 'Temporary error, retrying' })
    await alert.getByText('Another session holds a lock').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const overview = await stage.open(`/accounts/${account.id}`)
    const concern = overview
      .getByRole('region', { name: 'Needs attention' })
      .getByRole('listitem')
      .filter({ has: overview.getByRole('link', { name: 'Held up', exact: true }) })
    await concern.getByText('Retrying', { exact: true }).waitFor()
    await concern.getByText('Another session holds a lock').waitFor()
    await concern.getByRole('link', { name: 'Open the transfer: Held up' }).waitFor()
    assert.deepEqual(await accessibilityViolations(overview), [])
    await button(page, 'Cancel the transfer').click()
    await button(dialog(page), 'Cancel the transfer').click()
    await alert.waitFor({ state: 'detached' })
  })

  test('never shows what has happened as still to come, though the clock of the browser is behind', async () => {
    const connection = await connect('Early')
    await stage.client.setSchedule({
      accountId: account.id,
      id: connection.id,
      body: { cron: '0 6 * * *', timezone: 'UTC', enabled: true },
    })
    // The clock is shared by a whole browser.
    const page = await stage.open('/', { alone: true })
    await page.clock.setFixedTime(Date.now() - 40_000)
    await page.goto(`${pathOf(connection)}?tab=configuration`)
    await page.getByText('Created just now').waitFor()
    await page.goto(pathOf(connection))
    assert.match(
      (await page.getByText('Next transfer').locator('..').textContent()) ?? '',
      /Next transfer(in |tomorrow)/,
    )
  })

  test('is deleted after a question, and the deletion is taken back', async () => {
    const connection = await connect(`Short-lived orders and returns of the outdoor shops ${'x'.repeat(60)}`)
    const page = await stage.open(pathOf(connection))
    await choose(page, 'Delete')
    await button(dialog(page), 'Delete').click()
    await page.getByText('30 days are left to restore it').waitFor()
    assert.equal(await statusOf(connection), 'deleted')
    const cut = await button(page, 'Undo')
      .locator('span')
      .evaluateAll((parts) => parts.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth))
    assert.equal(cut, false, 'the action of the message is legible')
    await button(page, 'Undo').click()
    await button(page, 'Run now').waitFor()
    await until('it is as it was', async () => (await statusOf(connection)) === 'active')
  })

  test('can only be restored once it is deleted', async () => {
    const connection = await connect('Black Friday')
    await stage.client.deleteConnection({ accountId: account.id, id: connection.id })
    const page = await stage.open(pathOf(connection))
    await page.getByText('This connection is deleted').waitFor()
    assert.equal(await button(page, 'Run now').count(), 0)
    assert.equal(await button(page, 'More actions').count(), 0)
    assert.match((await reasonOf(button(page, 'Set a schedule'))) ?? '', /is deleted. Restore it first/)
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(page, 'Restore').click()
    await button(page, 'Enable').waitFor()
    assert.equal(await statusOf(connection), 'disabled')
  })

  test('is given a schedule, which is changed and deleted', async () => {
    const connection = await connect('Nightly')
    const page = await stage.open(pathOf(connection))
    await page.getByText('Manual transfers only').waitFor()
    await button(page, 'Set a schedule').click()
    await pick(page.getByRole('combobox', { name: 'Frequency' }), 'Monday to Friday')
    await dialog(page).getByLabel('At').fill('07:30')
    const zone = page.getByRole('combobox', { name: 'Time zone' })
    assert.equal(await zone.inputValue(), 'Europe/Berlin')
    // Typed text replaces the current zone, however the field gets the focus.
    await zone.click()
    await page.keyboard.type('tokyo')
    await page.getByRole('option', { name: 'Asia/Tokyo' }).click()
    assert.equal(await zone.inputValue(), 'Asia/Tokyo')
    await dialog(page).getByLabel('At').focus()
    await page.keyboard.press('Tab')
    while ((await zone.and(page.locator(':focus')).count()) === 0) await page.keyboard.press('Tab')
    await page.keyboard.type('berlin')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    assert.equal(await zone.inputValue(), 'Europe/Berlin')
    assert.equal(await dialog(page).getByText('Every transfer adds all rows again').count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(dialog(page), 'Save').click()
    await page.getByText('Monday to Friday at 07:30').waitFor()
    const { reply } = await stage.client.getSchedule({ accountId: account.id, id: connection.id })
    assert.deepEqual([reply.cron, reply.timezone, reply.enabled], ['30 7 * * 1-5', 'Europe/Berlin', true])
    await button(page, 'Change the schedule').click()
    await pick(page.getByRole('combobox', { name: 'Frequency' }), 'Cron expression')
    const cron = dialog(page).getByRole('textbox', { name: 'Cron expression' })
    assert.equal(await cron.inputValue(), '30 7 * * 1-5')
    await cron.fill('0 25 * * *')
    await button(dialog(page), 'Save').click()
    await page.locator('[aria-invalid=true]').waitFor()
    await cron.fill('15 * * * *')
    await dialog(page).getByRole('switch', { name: 'Scheduled' }).setChecked(false, { force: true })
    await button(dialog(page), 'Save').click()
    await page.getByText('Every hour at :15').waitFor()
    await page.getByText('Switched off').waitFor()
    await button(page, 'Delete the schedule').click()
    await button(dialog(page), 'Delete the schedule').click()
    await page.getByText('Manual transfers only', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByText('Schedule set: Monday to Friday at 07:30, Europe/Berlin').waitFor()
    await page.getByText('Schedule deleted: Every hour at :15, Europe/Berlin, switched off').waitFor()
  })

  test('warns of a schedule whose every transfer would add all rows again', async () => {
    const { reply: connection } = await stage.client.createConnection({
      accountId: account.id,
      body: {
        name: 'Piling up',
        srcConnectorId: localFolder.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { files: 'people.csv' },
        destConnectionConfig: { table: 'people' },
      },
    })
    const page = await stage.open(pathOf(connection))
    await button(page, 'Set a schedule').click()
    const warning = dialog(page).getByRole('alert').filter({ hasText: 'Every transfer adds all rows again' })
    await warning.getByText('Each row arrives in PostgreSQL once per transfer.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const scheduledSwitch = dialog(page).getByRole('switch', { name: 'Scheduled' })
    await scheduledSwitch.setChecked(false, { force: true })
    await warning.waitFor({ state: 'detached' })
    await scheduledSwitch.setChecked(true, { force: true })
    await warning.getByRole('link', { name: 'Change the settings' }).click()
    await page.getByRole('radiogroup', { name: 'How rows are written' }).waitFor()

    // Once rows were sent, the page of the connection says it.
    const { id } = connection
    const db = new pg.Client({ connectionString: stage.databaseUrl })
    await db.connect()
    await db.query('update connections set used_volume = 5 where id = $1', [id])
    await db.end()
    await (await stage.open(pathOf(connection))).getByText('Every transfer adds all rows again').waitFor()
    const body = { destConnectionConfig: { table: 'people', sendRows: 'Changed', rowKey: '*' } }
    await stage.client.updateConnection({ accountId: account.id, id, body })
    const changed = await stage.open(pathOf(connection))
    await changed.getByText('Delivered this month').first().waitFor()
    assert.equal(await changed.getByText('Every transfer adds all rows again').count(), 0)
  })

  test('is renamed and set otherwise, and what the service refuses is shown at its field', async () => {
    const connection = await connect('Old name')
    const page = await stage.open(pathOf(connection))
    await choose(page, 'Edit')
    await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('New name')
    await openValues(dialog(page), 'Files')
    await button(page, 'Enter a name').click()
    const files = dialog(page).getByRole('textbox', { name: 'Files' })
    await files.fill('')
    await button(dialog(page), 'Save').click()
    await dialog(page).locator('[aria-invalid=true]').waitFor()
    assert.equal(await files.getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await accessibilityViolations(page), [])
    await files.fill('people.csv')
    await button(dialog(page), 'Save').click()
    await page.getByRole('heading', { name: 'New name' }).waitFor()
    const mapping =
      '{"id": "id", "name": null, "email": {"column": "email", "normalise": "email", "default": "x@y.de"}}'
    const of = { accountId: account.id, id: connection.id }
    const { reply: renamed } = await stage.client.getConnection(of)
    await stage.client.updateConnection({
      ...of,
      body: { destConnectionConfig: { ...renamed.destConnectionConfig, mapping } },
    })
    await page.getByRole('tab', { name: 'Configuration' }).click()
    await page.getByRole('row', { name: /email Column “email” email, if empty, x@y.de/ }).waitFor()
    await page.getByText('1 other field stays empty.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await choose(page, 'Edit')
    await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('Newer name')
    await button(dialog(page), 'Save').click()
    await page.getByRole('heading', { name: 'Newer name' }).waitFor()
    assert.equal((await stage.client.getConnection(of)).reply.destConnectionConfig.mapping, mapping)
    await page.getByRole('link', { name: 'Edit the mapping' }).click()
    await page.waitForURL(`**/connections/new?connection=${connection.id}&step=mapping`)
    const { reply } = await stage.client.getConnection({ accountId: account.id, id: connection.id })
    assert.equal(reply.destConnectionConfig.table, 'people', 'what was not changed stays')
  })

  test('is duplicated with its settings and its mapping, as a draft', async () => {
    const connection = await connect('Model')
    const of = { accountId: account.id, id: connection.id }
    const { reply: model } = await stage.client.getConnection(of)
    const destConnectionConfig = { ...model.destConnectionConfig, mapping: '{"id":"id"}' }
    await stage.client.updateConnection({ ...of, body: { destConnectionConfig } })
    const page = await stage.open(pathOf(connection))
    await choose(page, 'Duplicate')
    await page.getByRole('heading', { name: 'Copy of Model' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const { reply: copy } = await stage.client.getConnection({ accountId: account.id, id })
    assert.deepEqual(
      [copy.status, copy.name, copy.srcConnectionConfig, copy.destConnectionConfig],
      ['In-progress', 'Copy of Model', model.srcConnectionConfig, destConnectionConfig],
    )
  })

  test('two who edit it see both versions, and either can stay', async () => {
    const connection = await connect('Contested')
    const of = { accountId: account.id, id: connection.id }
    const page = await stage.open(pathOf(connection))
    const edit = async (name: string, theirs: string) => {
      await choose(page, 'Edit')
      await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill(name)
      await stage.client.updateConnection({
        ...of,
        body: { name: theirs, srcConnectionConfig: { files: 'theirs.csv' } },
      })
      await button(dialog(page), 'Save').click()
      await page.getByText('Modified by someone else').waitFor()
      await page.getByRole('row', { name: `Name ${name} ${theirs}` }).waitFor()
      await page.getByRole('row', { name: /Source: Files .*theirs\.csv/ }).waitFor()
    }
    await edit('Mine', 'Theirs')
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(page, 'Discard my changes').click()
    await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor()
    await edit('Mine again', 'Theirs again')
    await button(page, 'Overwrite').click()
    await page.getByRole('heading', { level: 1, name: 'Mine again' }).waitFor()
    assert.equal((await stage.client.getConnection(of)).reply.name, 'Mine again')
  })

  test('lists its transfers, settings and statuses in one history', async () => {
    const connection = await connect('Storied')
    await stage.run(account.id, connection.id)
    await stage.client.updateConnection({ accountId: account.id, id: connection.id, body: { name: 'Storied twice' } })
    const page = await stage.open(`${pathOf(connection)}?tab=timeline`)
    await page.getByText('Renamed from “Storied” to “Storied twice”').waitFor()
    await page.getByText('Draft → Active').waitFor()
    await page.getByText('Created as “Storied”').waitFor()
    await page.getByText('By the API key First client').first().waitFor()
    await page.getByText('200 read, 180 accepted, 20 rejected').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('link', { name: 'Transfer: partial' }).click()
    await page.getByRole('heading', { name: 'Transfer of Storied twice' }).waitFor()
  })

  test('is broken after a platform refused it, and says what to fix', async () => {
    const connection = await connect('Gone file', { file: 'gone.csv' })
    await stage.run(account.id, connection.id)
    await until('it is broken', async () => (await statusOf(connection)) === 'broken')
    const page = await stage.open(pathOf(connection))
    const alert = page.getByRole('alert').filter({ hasText: 'The latest transfer failed' })
    await alert.getByText('gone.csv').waitFor()
    await alert.getByText('object_not_found').waitFor()
    assert.match((await reasonOf(button(page, 'Run now'))) ?? '', /The connection is not active/)
    await button(page, 'Activate').click()
    await dialog(page).getByText('gone.csv').waitFor()
    await button(dialog(page), 'Activate anyway').click()
    await until('it is active', async () => (await statusOf(connection)) === 'active')
  })

  test('offers next steps for a failed transfer, by its error', async () => {
    const { id: accountId } = await stage.addAccount('Next steps')
    await stage.addSides(accountId)
    const failed = async (name: string, options: Parameters<ConsoleStage['connect']>[2]) => {
      const connection = await stage.connect(accountId, name, options)
      const { status } = await stage.run(accountId, connection.id)
      assert.equal(status, 'failed')
      const page = await stage.open(pathOf(connection))
      const alert = page.getByRole('alert').filter({ hasText: 'The latest transfer failed' })
      await alert.waitFor()
      return { connection, page, alert }
    }
    const noFile = await failed('No file', { file: 'gone.csv' })
    await noFile.alert.getByRole('link', { name: 'Change the settings' }).click()
    await noFile.page.waitForURL(`**/connections/new?connection=${noFile.connection.id}&step=settings`)
    await noFile.page.getByRole('combobox', { name: 'Files', exact: true }).waitFor()

    await stage.target.query('create table codes (id integer primary key, name text, email text, code text not null)')
    const unmapped = await failed('Nothing accepted', { table: 'codes' })
    assert.deepEqual(await accessibilityViolations(unmapped.page), [])
    await unmapped.alert.getByRole('link', { name: 'Change the mapping' }).click()
    await unmapped.page.waitForURL(`**/connections/new?connection=${unmapped.connection.id}&step=mapping`)
    await unmapped.page.getByRole('region', { name: 'Mapping' }).waitFor()

    await stage.client.configureConnector({
      accountId,
      id: postgresql.id,
      body: { secretConfig: { password: 'wrong' } },
    })
    const refused = await failed('Wrong password', {})
    const edit = refused.alert.getByRole('link', { name: 'Edit the destination connector' })
    await edit.waitFor()
    assert.equal(await refused.alert.getByRole('link', { name: 'Edit the source connector' }).count(), 0)
    await refused.alert.getByRole('link', { name: 'Open the transfer' }).click()
    await refused.page.getByRole('heading', { name: 'Transfer of Wrong password' }).waitFor()
    await refused.page.getByRole('link', { name: 'Edit the destination connector' }).click()
    await refused.page.waitForURL(`**/connectors?configure=${postgresql.id}&configuration=*`)
  })

  test('that stopped before it replaced the existing records can be confirmed and run', async () => {
    const connection = await connect('Replacing')
    const { id } = await stage.run(account.id, connection.id)
    await stage.sql(
      `update transfers set status = 'failed', error_code = 'confirmation_needed',
       error_message = 'This would replace everything that is there by 0 records.' where id = '${id}'`,
    )
    const page = await stage.open(pathOf(connection))
    await page.getByText('This would replace everything that is there by 0 records.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(page, 'Run and replace').click()
    await button(dialog(page), 'Run and replace').click()
    await page.getByText('A transfer of Replacing was started').waitFor()
    const { total } = await stage.client.listTransfers({ accountId: account.id, id: connection.id })
    assert.equal(total, 2)
    // The new transfer is confirmed.
    await stage.sql(
      `do $$ begin if not exists (select from transfers where connection_id = '${connection.id}' and confirmed)
       then raise 'no transfer was confirmed'; end if; end $$`,
    )
  })

  test('has rules and a blackout, and the transfer that a rule stopped shows the results', async () => {
    const connection = await connect('Judged')
    const of = { accountId: account.id, id: connection.id }
    const page = await stage.open(`${pathOf(connection)}?tab=configuration`)
    await button(page, 'Edit the rules').click()
    const form = dialog(page)
    await form.getByLabel('Maximum share (%)').fill('2')
    await button(form, 'Add a rule').click()
    const second = form.getByRole('group', { name: 'Rule 2' })
    await second.getByRole('combobox', { name: 'Check' }).click()
    await page.getByRole('option', { name: 'Number of records', exact: true }).click()
    await button(form, 'Save').click()
    await second.getByRole('alert').waitFor()
    await second.getByLabel('Minimum').fill('1000000')
    await button(form, 'Add a time').click()
    await form.getByLabel('To').fill('17:30')
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(form, 'Save').click()
    await page.getByText('Records read: at least 1,000,000').waitFor()
    await page.getByText(/Mon, Tue, Wed, Thu, Fri 08:00 to 17:30/).waitFor()
    const { rules, blackout } = (await stage.client.getConnectionRules(of)).reply
    assert.deepEqual(rules, [
      { check: 'rejected', action: 'stop', percent: 2 },
      { check: 'rows', action: 'stop', min: 1_000_000 },
    ])
    assert.equal(blackout?.windows[0]?.to, '17:30')
    await stage.client.setConnectionRules({ ...of, body: { rules } })
    const { id } = await stage.run(account.id, connection.id)
    await page.goto(page.url().replace(/\?.*/, `/transfers/${id}`))
    await page
      .getByText(/A rule of the connection stopped the transfer/)
      .first()
      .waitFor()
    await page.getByRole('cell', { name: 'Failed' }).first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('runs after others, in a group, and has triggers', async () => {
    const [connection, upstream] = [await connect('Follows'), await connect('Leads')]
    const of = { accountId: account.id, id: connection.id }
    const page = await stage.open(pathOf(connection))
    await button(page, 'Change the run conditions').click()
    const form = dialog(page)
    await form.getByRole('combobox', { name: 'Runs after these connections' }).fill('Leads')
    await page.getByRole('option', { name: 'Leads', exact: true }).click()
    await form.getByLabel('Group', { exact: true }).fill('warehouse')
    await form.getByLabel('Concurrent transfers in the group').fill('3')
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(form, 'Save').click()
    await page.getByText('Group: warehouse').waitFor()
    await page.getByText('Not yet').waitFor()
    const { runAfter, group } = (await stage.client.getRunConditions(of)).reply
    assert.deepEqual([runAfter.map(({ connectionId }) => connectionId), group], [[upstream.id], 'warehouse'])
    const [{ transfersMax } = assert.fail()] = (await stage.client.listTransferGroups({ accountId: account.id })).reply
    assert.equal(transfersMax, 3)
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByText('Run conditions set: after Leads; group warehouse').waitFor()
    await page.getByRole('tab', { name: 'Configuration' }).click()
    await button(page, 'Add a trigger').click()
    await form.getByLabel('Name').fill('Nightly job')
    await button(form, 'Add a trigger').click()
    await page.getByText('Copy the address now').waitFor()
    assert.match(
      await form.getByRole('textbox', { name: 'Address', exact: true }).inputValue(),
      /\/trigger\/[0-9a-f]{16}\/pst_/,
    )
    await button(form, 'I have stored it').click()
    await button(page, 'Delete the trigger Nightly job').click()
    await button(dialog(page), 'Delete the trigger Nightly job').click()
    await page.getByText('The trigger was deleted').waitFor()
  })

  test('stops where columns changed, shows them, and continues once they are accepted', async () => {
    const connection = await connect('Drifting')
    const of = { accountId: account.id, id: connection.id }
    const page = await stage.open(`${pathOf(connection)}?tab=configuration`)
    await page.getByText('The columns are known after the first successful transfer.').waitFor()
    await page.getByRole('radio', { name: 'Add new columns' }).click()
    await until('it is saved', async () => (await stage.client.getDrift(of)).reply.drift === 'add')
    await page.getByRole('radio', { name: 'Stop' }).click()
    await page.getByText('The setting was saved').waitFor()
    await until('it is saved', async () => (await stage.client.getDrift(of)).reply.drift === 'stop')
    await stage.run(account.id, connection.id)
    await stage.sql(
      `update connection_states set shape = jsonb_set(shape, '{source}',
         '{"columns": [{"name": "gone", "type": null, "required": false, "key": false}], "count": 1, "digest": ""}')
       where connection_id = '${connection.id}'`,
    )
    const { id } = await stage.run(account.id, connection.id)
    await page.goto(page.url().replace(/\?.*/, `/transfers/${id}`))
    await page.getByText(/^gone is now \S+$/).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(page, 'Accept all and run').click()
    await page.getByText('The changes were accepted').waitFor()
    await page.waitForURL((url) => !url.pathname.endsWith(id))
    assert.deepEqual((await stage.client.getDrift(of)).reply.changes, [])
    await page.goto(page.url().replace(/\/transfers\/.*/, '?tab=timeline'))
    await page.getByText('Columns of the source changed').waitFor()
  })

  test('that does not exist is said to be unknown', async () => {
    const page = await stage.open(`/accounts/${account.id}/connections/0000000000000000`)
    await page.getByRole('alert').getByText('This was deleted, or you do not have access to it.').waitFor()
  })

  for (const look of [
    { width: 390, height: 844, theme: 'dark' },
    { width: 360, height: 740, theme: 'light' },
    { width: 1440, height: 900, theme: 'dark' },
    { width: 2560, height: 1440, theme: 'light' },
  ] as const) {
    test(`fits ${look.width} pixels in the ${look.theme} theme, with the longest name`, async () => {
      const connection = await connect(`Long-${look.width}-`.padEnd(200, 'x'))
      await stage.run(account.id, connection.id)
      const page = await stage.open(pathOf(connection), { look })
      for (const tab of ['Overview', 'Transfers', 'Timeline', 'Configuration']) {
        await page.getByRole('tab', { name: tab }).click()
        await page.getByRole('tabpanel').locator('.mantine-Card-root').first().waitFor()
        assert.deepEqual(await accessibilityViolations(page), [], tab)
        const width = await page.evaluate<number>('document.documentElement.scrollWidth')
        assert(width <= look.width, `${tab} is ${width} pixels wide`)
      }
    })
  }

  test('stays on the page while the service is away, and recovers once it is back', async () => {
    const connection = await crowd('Through the outage')
    const page = await stage.open(pathOf(connection))
    await button(page, 'Run now').click()
    await page.getByText(/[1-9][\d,]* read so far/).waitFor()
    // Data that was never read is replaced by its error.
    await until('all of the page is read', async () => (await page.locator('[aria-busy=true]').count()) === 0)
    await stage.kill()
    await page.getByText('The service cannot be reached').first().waitFor()
    assert.equal(await page.getByText('The service cannot be reached').count(), 1)
    await page.getByRole('heading', { name: 'Through the outage' }).waitFor()
    await stage.start()
    await page.getByText('The service cannot be reached').waitFor({ state: 'detached' })
  })
})
