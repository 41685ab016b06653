import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Account, type Reject, rejectedRecordsConnectorId, type Transfer } from '@penstock/wire'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, prepareCrowd, preparePeople, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

describe('a transfer in the console', { skip }, () => {
  let stage: ConsoleStage
  let account: Account
  before(async () => {
    stage = await startConsole()
    account = await stage.addAccount('Northwind Outdoor')
    await stage.addSides(account.id)
    await preparePeople(stage, 400)
    await prepareCrowd(stage)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const pathOf = ({ accountId, connectionId, id }: Transfer) =>
    `/accounts/${accountId}/connections/${connectionId}/transfers/${id}`
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const dialog = (page: Page) => page.getByRole('dialog')
  const runOnce = async (name: string, options?: Parameters<ConsoleStage['connect']>[2]) => {
    const { id } = await stage.connect(account.id, name, options)
    return stage.run(account.id, id)
  }
  const startCrowd = async (name: string) => {
    const { id } = await stage.connect(account.id, name, { file: 'crowd.csv', table: 'crowd' })
    return (await stage.client.startTransfer({ accountId: account.id, id, body: {} })).reply
  }
  const read = async ({ accountId, connectionId, id }: Transfer) =>
    (await stage.client.getTransfer({ accountId, id: connectionId, transferId: id })).reply
  const reasonOfReplay = async (page: Page) => {
    const id = await button(page, 'Resend rejected rows').getAttribute('aria-describedby')
    return id === null ? undefined : page.locator(`[id="${id}"]`).first().textContent()
  }
  const rows = (page: Page) => page.getByRole('region', { name: 'Rejected rows' }).getByRole('row')
  const download = async (page: Page, format: string) => {
    await button(page, 'Download all').click()
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: format }).click(),
    ])
    return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), 'utf8') }
  }

  test('is an account of rows that adds up, with its timing and where it belongs', async () => {
    const run = await runOnce('Adds up')
    const page = await stage.open(pathOf(run))
    await page.getByText('400 read = 360 accepted + 40 rejected').waitFor({ state: 'attached' })
    await page.getByText('Every record that was read is accounted for.').waitFor()
    await page.getByText(/^Started by the API key /).waitFor()
    await page.getByText('1 attempt').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('link', { name: 'All transfers' }).click()
    await page.waitForURL('**?tab=transfers')
    await page.getByRole('link', { name: 'Open the transfer: Partial' }).click()
    await page.getByRole('heading', { name: 'Transfer of Adds up' }).waitFor()
  })

  test('shows what happened line by line, to copy', async () => {
    const run = await runOnce('Followed')
    const page = await stage.open(pathOf(run))
    const log = page.getByRole('region', { name: 'What happened' })
    await log.getByText('PostgreSQL confirmed a batch: 400 read').waitFor()
    assert.match((await log.getByRole('listitem').first().textContent()) ?? '', /^\d\d:\d\d:\d\dA worker took/)
    assert.match(
      (await log.getByRole('listitem').last().textContent()) ?? '',
      /Ended: 360 records were accepted, 40 rejected\.$/,
    )
    await page.getByRole('radiogroup', { name: 'Lines' }).getByText('Waits and errors').click()
    await until('one line is left', async () => (await log.getByRole('listitem').count()) === 1)
    await log.getByRole('listitem').getByText('PostgreSQL confirmed a batch: 400 read').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('radiogroup', { name: 'Lines' }).getByText('All lines').click()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Copy log').click()
    await button(page, 'Copied').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.match(copied, /^\d{4}-\S+Z Attempt 1: A worker took the transfer\.\n/)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('lists what was rejected, by reason, to search and to leaf through', async () => {
    const run = await runOnce('Rejecting')
    const page = await stage.open(pathOf(run))
    const reason = 'There is no value for the column email, which needs one.'
    await rows(page).filter({ hasText: reason }).first().waitFor()
    assert.equal(await rows(page).count(), 26)
    await page.getByText('1–25 of 40').waitFor()
    await page.getByRole('button', { name: 'Page 2' }).click()
    await page.getByText('26–40 of 40').waitFor()
    await rows(page).filter({ hasText: 'line 401' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search rejected rows' }).fill('120')
    await until('one is left', async () => (await rows(page).count()) === 2)
    assert.match((await rows(page).nth(1).textContent()) ?? '', /^people\.csv, line 121/)
    assert.match(page.url(), /q=120/)
    await page.getByRole('searchbox', { name: 'Search rejected rows' }).fill('nobody')
    await page.getByText('No matching rows').waitFor()
    await button(page, 'Clear the search').click()
    await page.waitForURL((url) => !url.searchParams.has('q'))
    await page
      .getByRole('region', { name: 'Why' })
      .getByRole('button', { name: 'Value missing' })
      .filter({ hasText: /^40/ })
      .click()
    await page.waitForURL(/reason=/)
    await page.getByText('1–25 of 40').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await rows(page).nth(1).getByRole('button', { expanded: false }).click()
    await rows(page).filter({ hasText: 'Person 10' }).first().waitFor()
    await page.getByRole('searchbox', { name: 'Search rejected rows' }).fill('person 390')
    await until('one is left', async () => (await rows(page).count()) === 2)
  })

  test('corrects a rejected record, and begins a connection that keeps rejected records', async () => {
    const run = await runOnce('Corrected')
    const page = await stage.open(pathOf(run))
    const first = rows(page).nth(1)
    await first.getByRole('button', { name: 'Correct people.csv, line 11' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: 'Only people.csv, line 11' }).check()
    await dialog.getByRole('textbox', { name: 'email' }).fill('corrected@example.com')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Save only' }).click()
    await first.getByText('corrected@example.com').filter({ visible: true }).waitFor()
    const { reply } = await stage.client.listRejects({
      accountId: run.accountId,
      id: run.connectionId,
      transferId: run.id,
      query: { size: 1 },
    })
    assert.equal(reply[0]?.edited?.email, 'corrected@example.com')
    await button(page, 'Keep in a store').click()
    await page.waitForURL((url) => url.searchParams.get('source') === rejectedRecordsConnectorId)
  })

  test('has all its rejected records to download, as CSV and as NDJSON', async () => {
    const run = await runOnce('Downloading')
    const page = await stage.open(pathOf(run))
    const csv = await download(page, 'As CSV')
    assert.equal(csv.name, `rejects-${run.id}.csv`)
    const [head, ...lines] = csv.text.trimEnd().split('\r\n')
    assert.equal(head, 'row,file,line,count,field,reason,record')
    assert.equal(lines.length, run.records.rejected)
    assert.match(lines[0] ?? '', /^10,people\.csv,11,1,email,/)
    const ndjson = await download(page, 'As NDJSON')
    assert.equal(ndjson.name, `rejects-${run.id}.ndjson`)
    const rejects = ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Reject)
    assert.deepEqual(
      rejects.map(({ row }) => row),
      Array.from({ length: 40 }, (_, i) => (i + 1) * 10),
    )
    await button(page, 'As curl').click()
    await page
      .getByText(/rejects\?accountId/)
      .first()
      .waitFor()
  })

  test('replays its rejected records once the cause is fixed', async () => {
    await preparePeople(stage, 100, 'fixed')
    const run = await runOnce('Fixed', { file: 'fixed.csv', table: 'fixed' })
    assert.equal(run.records.rejected, 10)
    await stage.target.query('alter table fixed alter column email drop not null')
    const page = await stage.open(pathOf(run))
    await button(page, 'Resend rejected rows').click()
    await dialog(page).getByText('10 rows as they were read.').waitFor()
    await dialog(page).getByRole('button', { name: 'Resend rejected rows' }).click()
    await page.getByRole('link', { name: 'Open the transfer' }).filter({ visible: true }).first().click()
    await page.getByText('10 read = 10 accepted + 0 rejected').waitFor({ state: 'attached' })
    await page.getByText('Replay of rejected records').waitFor()
    await page.getByText('All 10 rows were accepted.', { exact: true }).waitFor()
    assert.match((await reasonOfReplay(page)) ?? '', /No rows were rejected/)
    assert.deepEqual(await accessibilityViolations(page), [])
    const first = await stage.open(pathOf(run))
    await first.getByText('100 read = 100 accepted + 0 rejected').waitFor({ state: 'attached' })
    await first.getByRole('heading', { name: 'All 10 rejected rows were accepted when resent' }).waitFor()
    await first.getByText('All rows accepted after resending').waitFor()
    assert.equal(await button(first, 'Resend rejected rows').count(), 0)
    assert.deepEqual(await accessibilityViolations(first), [])
  })

  test('says why its rejected records cannot be sent again', async () => {
    const run = await runOnce('No replay')
    const page = await stage.open(pathOf(run))
    await button(page, 'Resend rejected rows').waitFor()
    assert.equal(await reasonOfReplay(page), undefined)
    // The operator keeps some of them, and for a time only.
    await stage.sql(`delete from rejects where transfer_id = '${run.id}' and number > 15`)
    await page.reload()
    await page.getByText('15 of 40 are kept.').waitFor()
    await button(page, 'Resend rejected rows').click()
    await dialog(page).getByText('15 rows as they were read.').waitFor()
    await dialog(page).getByText('25 rows are not kept and cannot be sent.').waitFor()
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await stage.sql(`delete from rejects where transfer_id = '${run.id}'`)
    await button(page, 'Resend rejected rows').click()
    await dialog(page).getByRole('button', { name: 'Resend rejected rows' }).click()
    await dialog(page).getByText('has no rejected records to send again').waitFor()
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await page.reload()
    await page.getByText('The 40 rows that were rejected are no longer kept').first().waitFor()
    await stage.client.updateConnectionStatus({
      accountId: run.accountId,
      id: run.connectionId,
      body: { action: 'disable' },
    })
    await page.reload()
    await until('the reason is there', async () =>
      /The connection is not active/.test((await reasonOfReplay(page)) ?? ''),
    )
  })

  test('that failed says why in plain words, with its code', async () => {
    const run = await runOnce('Failing', { table: 'nowhere' })
    const page = await stage.open(pathOf(run))
    const alert = page.getByRole('alert').filter({ hasText: 'The transfer failed' })
    await alert.getByText('nowhere').waitFor()
    await alert.getByText('Code table_not_found').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('moves while it is active, and can be cancelled', async () => {
    const run = await startCrowd('Cancelled on the way')
    const page = await stage.open(pathOf(run))
    const equation = page.getByText(/[1-9][\d,]* read = .* accepted/)
    await equation.waitFor({ state: 'attached' })
    const first = await equation.textContent()
    await until('the account moves', async () => (await equation.textContent()) !== first)
    await page.getByText('So far', { exact: true }).waitFor()
    await page.getByText(/of the source processed/).waitFor()
    assert.match((await reasonOfReplay(page)) ?? '', /has not ended yet/)
    await button(page, 'Cancel the transfer').click()
    await dialog(page).getByRole('button', { name: 'Cancel the transfer' }).click()
    await page.getByText('Cancelled', { exact: true }).waitFor()
    await button(page, 'Cancel the transfer').waitFor({ state: 'detached' })
    const { records } = await until('it has ended', async () => {
      const now = await read(run)
      return now.status === 'cancelled' ? now : undefined
    })
    assert.equal(records.read, records.accepted + records.rejected)
  })

  test('continues in another worker after a crash, and its page stays open and shows both attempts', async () => {
    const run = await startCrowd('Through a crash')
    const page = await stage.open(pathOf(run))
    await page.getByText(/[1-9][\d,]* read = /).waitFor({ state: 'attached' })
    await stage.kill()
    const away = page.getByText('The service cannot be reached')
    await away.first().waitFor()
    await page.getByRole('heading', { name: 'Transfer of Through a crash' }).waitFor()
    // As if the lost worker's heartbeat timeout had passed.
    await stage.sql(
      `update transfer_parts set heartbeat_time = heartbeat_time - interval '1 hour' where transfer_id = '${run.id}'`,
    )
    await stage.start()
    await until('the page has found the service again', async () => (await away.count()) === 0)
    await page.getByText(/\d+ attempts: a worker was lost/).waitFor()
    await page.getByText('400,000 read = 400,000 accepted + 0 rejected').waitFor({ state: 'attached', timeout: 90_000 })
  })

  test('that does not exist is said to be unknown', async () => {
    const run = await runOnce('Known')
    const page = await stage.open(pathOf({ ...run, id: '0000000000000000' }))
    await page.getByRole('alert').getByText('This was deleted, or you do not have access to it.').waitFor()
  })

  for (const look of [
    { width: 390, height: 844, theme: 'dark' },
    { width: 360, height: 740, theme: 'light' },
    { width: 1440, height: 900, theme: 'dark' },
  ] as const) {
    test(`fits ${look.width} pixels in the ${look.theme} theme`, async () => {
      await writeFile(join(stage.folder, 'wide.csv'), `id,name,email\n1,${'x'.repeat(300)},\n`)
      const run = await runOnce(`Long-${look.width}-`.padEnd(200, 'x'), { file: 'wide.csv' })
      const page = await stage.open(pathOf(run), { look })
      await rows(page).nth(1).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert(width <= look.width, `it is ${width} pixels wide`)
    })
  }
})
