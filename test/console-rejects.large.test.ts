import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Account, Reject, Transfer } from '@penstock/wire'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, type Look, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'
import { longRows, shortRows, wideColumns, wideFaults, wideFile } from './harness/wide-people.ts'

/** Rejected rows of a file with 60 columns: by reason, corrected and sent again, with the keyboard and on a phone. */

const amount = 'Umsatz gesamt (€)'
const mapping = {
  id: 'Kunden-Nr.',
  name: 'Nachname',
  email: 'E-Mail',
  amount,
  note: 'Notiz',
}
const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]

describe('rejected rows in the console', { skip }, () => {
  let stage: ConsoleStage
  let account: Account
  before(async () => {
    // A transfer of one test rejects more rows than are kept.
    stage = await startConsole({ PENSTOCK_REJECTS: '20' })
    account = await stage.addAccount('Acme Outdoor')
    await stage.addSides(account.id)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const button = (scope: Page | Locator, name: string | RegExp) =>
    scope.getByRole('button', { name, exact: typeof name === 'string' })
  const dialog = (page: Page) => page.getByRole('dialog')
  /** Waits until a field has the focus. */
  const focus = (page: Page, field: Locator) => field.and(page.locator(':focus')).waitFor()
  const disclosures = (page: Page) => page.locator('[data-reject-row]')
  const pathOf = ({ accountId, connectionId, id }: Transfer) =>
    `/accounts/${accountId}/connections/${connectionId}/transfers/${id}`
  /** Transfers a file with 60 columns into a separate table. */
  const run = async (table: string, text = wideFile()): Promise<Transfer> => {
    await writeFile(join(stage.folder, `${table}.csv`), text)
    await stage.target.query(
      `create table ${table} (id integer primary key, name text, email text, amount numeric(12, 2), note text)`,
    )
    const { reply } = await stage.client.createConnection({
      accountId: account.id,
      body: {
        name: `Customers ${table}`,
        srcConnectorId: localFolder.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { files: `${table}.csv` },
        destConnectionConfig: { table, writeMode: 'Upsert', keyColumns: 'id', mapping: JSON.stringify(mapping) },
      },
    })
    await stage.client.updateConnectionStatus({ accountId: account.id, id: reply.id, body: { action: 'activate' } })
    return stage.run(account.id, reply.id)
  }
  const list = async ({ accountId, connectionId, id }: Transfer): Promise<Reject[]> =>
    (await stage.client.listRejects({ accountId, id: connectionId, transferId: id, query: { size: 100 } })).reply
  const rowsIn = async (table: string, ids: readonly number[]) => {
    const { rows } = await stage.target.query(
      `select id - 100000 as row, amount from ${table} where id = any($1) order by id`,
      [ids.map((row) => 100_000 + row)],
    )
    return rows
  }
  const states = (page: Page): Promise<string[]> =>
    page.locator('tr:has([data-reject-row]) .mantine-Badge-root').filter({ visible: true }).allTextContents()

  test('are grouped by reason, with the record behind a disclosure, at every size and in both themes', async () => {
    const transfer = await run('grouped')
    assert.deepEqual(transfer.records, { read: 150, sent: 143, accepted: 136, rejected: 14 })
    const page = await stage.open(pathOf(transfer))
    await page.getByRole('heading', { level: 2, name: '14 of 150 rows were rejected' }).waitFor()
    const why = page.getByRole('region', { name: 'Why' })
    await why.getByText('3 reasons').waitFor()
    assert.deepEqual(await why.getByRole('button').allTextContents(), [
      `7Not a numberin ${amount}k.A. ×5, –, auf Anfrage`,
      '4Row too short40 values, the header has 60lines 35, 83, 96, 127',
      '3Row too long62 values, the header has 60lines 27, 52, 116',
      'All reasons',
    ])
    assert.equal(await why.getByLabel('Needs a correction before it can be sent').count(), 2)
    assert.deepEqual(
      await disclosures(page).allTextContents(),
      [...wideFaults.keys()].map((row) => `grouped.csv, line ${row + 1}`),
    )
    await disclosures(page).first().click()
    const record = page.getByRole('region', { name: 'Record of grouped.csv, line 21' })
    const first = [amount, ...wideColumns.filter((column) => column !== amount)]
    assert.deepEqual(await record.locator('dt').allTextContents(), first.slice(0, 16))
    assert.equal(await record.locator('dd').first().textContent(), 'k.A.')
    await button(record, 'Show all 60 columns').click()
    assert.deepEqual(await record.locator('dt').allTextContents(), first)
    for (const look of looks) {
      await setLook(page, look)
      assert.deepEqual(await accessibilityViolations(page), [])
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert(width <= look.width, `it is ${width} pixels wide`)
    }
  })

  test('with several faults say all of them, and are corrected and accepted in one go', async () => {
    const { client, folder, target } = stage
    await writeFile(
      join(folder, 'faults.csv'),
      'id,total,paid,born,note\n1,k.A.,soon,31.02.1989,first\n2,5,1,1990-01-31,second\n3,none,2,1990-01-31,third\n',
    )
    await target.query('create table faults (id int primary key, total numeric(8, 2), paid int, born date, note text)')
    const mapping = {
      total: { column: 'total', numbers: 'comma' },
      paid: 'paid',
      born: { column: 'born', dates: 'DMY' },
    }
    const { reply } = await client.createConnection({
      accountId: account.id,
      body: {
        name: 'Faults',
        srcConnectorId: localFolder.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { files: 'faults.csv' },
        destConnectionConfig: { table: 'faults', writeMode: 'Insert' },
      },
    })
    await client.updateConnectionStatus({ accountId: account.id, id: reply.id, body: { action: 'activate' } })
    const types = await stage.run(account.id, reply.id)
    const faultsOf = async (transfer: Transfer) =>
      (await list(transfer)).map(({ field, otherFaults = [] }) => [field, ...otherFaults.map((fault) => fault.field)])
    assert.deepEqual(await faultsOf(types), [['total', 'paid', 'born'], ['total']], 'of the types of the table')
    await target.query('truncate faults')
    await client.updateConnection({
      accountId: account.id,
      id: reply.id,
      body: {
        destConnectionConfig: {
          table: 'faults',
          writeMode: 'Insert',
          mapping: JSON.stringify({ id: 'id', ...mapping, note: 'note' }),
        },
      },
    })
    const transfer = await stage.run(account.id, reply.id)
    assert.deepEqual(await faultsOf(transfer), [['total', 'born'], ['total']], 'of the mapping')

    const page = await stage.open(pathOf(types))
    const row = page.locator('tr:has([data-reject-row])').first()
    const seen = (text: string) => row.getByText(text).filter({ visible: true }).waitFor()
    await seen('"k.A." is not a number')
    await seen('"soon" is not a number')
    await seen('"31.02.1989" is not a valid date')
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(page, 'Correct faults.csv, line 2').click()
    await focus(page, dialog(page).getByRole('textbox', { name: 'total' }))
    await dialog(page).getByText('"31.02.1989" is not a valid date').waitFor()
    for (const [at, value] of ['k.A.', 'soon', '31.02.1989'].entries()) {
      assert.equal(await dialog(page).getByRole('textbox').nth(at).inputValue(), value)
    }
    assert.deepEqual(await accessibilityViolations(page), [])
    for (const [name, value] of [
      ['total', '7,5'],
      ['paid', '1'],
      ['born', '28.02.1989'],
    ] as const) {
      await dialog(page).getByRole('textbox', { name }).fill(value)
    }
    await button(dialog(page), 'Save and resend 1').click()
    const rows = await until('the row is there', async () => {
      const found = await target.query('select total, paid, born::text as born, note from faults where id = 1')
      return found.rowCount === 1 ? found.rows : undefined
    })
    assert.deepEqual(rows, [{ total: '7.50', paid: 1, born: '1989-02-28', note: 'first' }])
  })

  test('with one reason are corrected and accepted in at most 3 clicks, without typing', async () => {
    const transfer = await run('corrected')
    const page = await stage.open(pathOf(transfer))
    let clicks = 0
    const click = async (target: Locator) => {
      clicks++
      await target.click()
    }
    await click(button(page, 'Correct 7 rows'))
    const faulty = dialog(page).getByRole('textbox').first()
    await focus(page, faulty)
    assert.equal(await dialog(page).getByRole('textbox', { name: amount }).inputValue(), 'k.A.')
    await dialog(page).getByText('Change a value first.').waitFor()
    // Most rows have the same filler, so one value is set for all of them unless the user chooses otherwise.
    const all = dialog(page).getByRole('radio', { name: 'Set for all 7 with this reason' })
    assert.equal(await all.isChecked(), true)
    assert.equal(await button(dialog(page), 'Save and resend 7').isDisabled(), true)
    await dialog(page).getByRole('heading', { name: 'Correct 7 rows' }).waitFor()
    await click(button(dialog(page), `Empty for ${amount}`))
    assert.deepEqual(await dialog(page).getByRole('table').getByRole('row').allTextContents(), [
      'RowReadSent',
      ...[...wideFaults].map(([row, value]) => `corrected.csv, line ${row + 1}${value}(empty)`),
    ])
    await dialog(page).getByText('Sends 7 rows in a new transfer.').waitFor()
    for (const look of looks) {
      await setLook(page, look)
      assert.deepEqual(await accessibilityViolations(page), [])
    }
    await setLook(page, looks[0] as Look)
    await click(button(dialog(page), 'Save and resend 7'))
    assert(clicks <= 3, `${clicks} clicks`)
    await until('all are accepted', async () => {
      const now = await states(page)
      return now.length === 7 && now.every((state) => state === 'Accepted')
    })
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByText('150 read = 143 accepted + 7 rejected').waitFor({ state: 'attached' })
    await page.getByText('7 of 14 rejected rows were accepted when they were resent.').waitFor()
    assert.deepEqual(
      await rowsIn('corrected', [...wideFaults.keys()]),
      [...wideFaults.keys()].map((row) => ({ row, amount: null })),
    )
    assert.deepEqual(await rowsIn('corrected', [...shortRows, ...longRows]), [])
    // Only what was corrected was sent, and the rows that need a correction are not in the new transfer.
    const [accepted] = await list(transfer)
    const { reply: resend } = await stage.client.getTransfer({
      accountId: transfer.accountId,
      id: transfer.connectionId,
      transferId: accepted?.resent?.transferId ?? '',
    })
    assert.deepEqual(resend.records, { read: 7, sent: 7, accepted: 7, rejected: 0 })
    const resendAll = page.getByRole('button', { name: 'Resend rejected rows' })
    assert.equal(await resendAll.getAttribute('aria-disabled'), 'true', 'what is left needs a correction')
  })

  test('that need a value each are one group, and are corrected one after another', async () => {
    const { client, folder, target } = stage
    const dates = ['31.02.1989', 'soon', '1990-02-30', '1991-13-01', 'k.A.']
    const rows = [...dates, '1990-01-31'].map((date, at) => `${at + 1},${date}\n`)
    await writeFile(join(folder, 'born.csv'), `id,born\n${rows.join('')}`)
    await target.query('create table born (id int primary key, born date)')
    const { reply } = await client.createConnection({
      accountId: account.id,
      body: {
        name: 'Born',
        srcConnectorId: localFolder.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { files: 'born.csv' },
        destConnectionConfig: {
          table: 'born',
          writeMode: 'Insert',
          mapping: JSON.stringify({ id: 'id', born: { column: 'born', dates: 'DMY' } }),
        },
      },
    })
    await client.updateConnectionStatus({ accountId: account.id, id: reply.id, body: { action: 'activate' } })
    const page = await stage.open(pathOf(await stage.run(account.id, reply.id)))
    const why = page.getByRole('region', { name: 'Why' })
    await why.getByText('1 reason').waitFor()
    await why.getByText('Not a valid date').waitFor()
    // One action is the primary one: the values are wrong, so sending them again does not help.
    const primary = () => page.locator('button[data-variant=filled]').filter({ visible: true }).allTextContents()
    assert.deepEqual(await primary(), ['Correct 5 rows'])
    await button(page, 'Correct 5 rows').click()
    await dialog(page).getByRole('heading', { name: 'Correct 5 rows' }).waitFor()
    const field = dialog(page).getByRole('textbox', { name: 'born' })
    for (const [at, read] of dates.entries()) {
      await dialog(page)
        .getByText(`${at + 1} of 5`)
        .waitFor()
      await focus(page, field)
      assert.equal(await field.inputValue(), read)
      if (at === 0) assert.deepEqual(await accessibilityViolations(page), [])
      await field.fill(`1${at + 1}.03.1989`)
      if (at < 4) await field.press('Enter')
    }
    await button(dialog(page), 'Save and resend 5').click()
    await until('all are accepted', async () => {
      const now = await states(page)
      return now.length === 5 && now.every((state) => state === 'Accepted')
    })
    const { rows: stored } = await target.query('select id, born::text from born order by id')
    assert.deepEqual(
      stored.map(({ born }) => born),
      ['1989-03-11', '1989-03-12', '1989-03-13', '1989-03-14', '1989-03-15', '1990-01-31'],
    )
  })

  test('that are broken are sent only after their correction', async () => {
    const transfer = await run('broken')
    const page = await stage.open(pathOf(transfer))
    await button(page, /Row too short/).click()
    await page.getByText('Rows like this can only be sent after a correction.').waitFor()
    assert.deepEqual(
      await states(page),
      shortRows.map(() => 'Needs correction'),
    )
    await button(page, 'Resend rejected rows').click()
    await dialog(page).getByText('7 rows as they were read.').waitFor()
    await dialog(page).getByText('7 rows need a correction first and are not sent.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(dialog(page), 'Cancel').click()
    await button(page, 'Correct broken.csv, line 35').first().click()
    await dialog(page).getByText('The row ends after column 40, Merkmal 24.').waitFor()
    const missing = dialog(page).getByRole('textbox', { name: 'Merkmal 25', exact: true })
    await focus(page, missing)
    await dialog(page).getByRole('textbox', { name: 'Notiz' }).fill('joined')
    assert.deepEqual(await accessibilityViolations(page), [])
    await button(dialog(page), 'Save only').click()
    await until('it is corrected', async () => (await states(page))[0] === 'Corrected')
    assert.deepEqual(await rowsIn('broken', shortRows), [])
    await button(page, 'Resend 1 corrected').click()
    await dialog(page).getByRole('radio', { name: 'Only the 1 corrected row' }).waitFor()
    await button(dialog(page), 'Resend rejected rows').click()
    await until('it is accepted', async () => (await states(page))[0] === 'Accepted')
    const { rows } = await stage.target.query('select note from broken where id = 100034')
    assert.deepEqual(rows, [{ note: 'joined' }])
    assert.deepEqual(
      (await list(transfer)).map(({ state }) => state).filter((state) => state !== 'waiting'),
      [...longRows, ...shortRows].sort((a, b) => a - b).map((row) => (row === 34 ? 'accepted' : 'needs_correction')),
    )
  })

  test('that are rejected again show the new reason, and their state as a filter', async () => {
    const transfer = await run('again')
    const page = await stage.open(pathOf(transfer))
    await button(page, 'Correct again.csv, line 21').click()
    assert.equal(await dialog(page).getByRole('radio', { name: 'Only again.csv, line 21' }).isChecked(), true)
    await dialog(page).getByRole('textbox', { name: amount }).fill('viele')
    await button(dialog(page), 'Save and resend 1').click()
    await until('it is rejected again', async () => (await states(page))[0] === 'Rejected again')
    await page.getByText('"viele" is not a number.').filter({ visible: true }).waitFor()
    await page.getByText('150 read = 136 accepted + 14 rejected').waitFor({ state: 'attached' })
    await page.getByRole('group', { name: 'State' }).getByText('Waiting 6').click()
    await until('6 are shown', async () => (await disclosures(page).count()) === 6)
    assert.match(page.url(), /state=waiting/)
  })

  test('are reached, opened, corrected and sent with the keyboard', async () => {
    const transfer = await run('keyboard')
    const page = await stage.open(pathOf(transfer))
    await disclosures(page).first().waitFor()
    const focused = () => page.evaluate<string | null>('document.activeElement?.dataset?.rejectRow ?? null')
    const numbers = (await list(transfer)).filter(({ structural }) => !structural).map(({ number }) => String(number))
    for (const [key, at] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key)
      assert.equal(await focused(), numbers[at])
    }
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Record of keyboard.csv, line 32' }).waitFor()
    assert.equal(await focused(), numbers[1])
    await page.keyboard.press('c')
    const field = dialog(page).getByRole('textbox', { name: amount })
    await focus(page, field)
    await page.keyboard.press('Control+A')
    await page.keyboard.type('12.50')
    await dialog(page).getByRole('radio', { name: 'Set for all 7 with this reason' }).press('Space')
    await page.keyboard.press('Control+Enter')
    await dialog(page).waitFor({ state: 'detached' })
    await until('all are accepted', async () => (await states(page)).every((state) => state === 'Accepted'))
    assert.deepEqual(
      await rowsIn('keyboard', [...wideFaults.keys()]),
      [...wideFaults.keys()].map((row) => ({ row, amount: '12.50' })),
    )
  })

  test('of which only some are kept say so, and a transfer without any says that all were accepted', async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `${i},x,x@example.com,none,\n`)
    const many = await run('many', `${Object.values(mapping).join(',')}\n${rows.join('')}99,x,x@example.com,1,\n`)
    const page = await stage.open(pathOf(many))
    await page.getByText('20 of 30 are kept.').waitFor()
    await button(page, 'Resend rejected rows').click()
    await dialog(page).getByText('10 rows are not kept and cannot be sent.').waitFor()
    const good = await run(
      'good',
      `${Object.values(mapping).join(',')}\n1,x,x@example.com,1.5,\n2,y,y@example.com,2,\n`,
    )
    const empty = await stage.open(pathOf(good))
    await empty.getByText('All 2 rows were accepted.').waitFor()
    assert.deepEqual(await accessibilityViolations(empty), [])
  })
})
