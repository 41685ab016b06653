import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import { type ConsoleStage, preparePeople, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

describe('the list of connections', { skip }, () => {
  let stage: ConsoleStage
  let accountId: string
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 20)
    accountId = (await stage.addAccount('Acme Outdoor')).id
    await stage.addSides(accountId)
    // Newest first: the page begins with number 30.
    for (let n = 1; n <= 30; n++) {
      await stage.connect(accountId, `Orders ${n}`, { activate: n % 10 === 0 })
    }
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const path = () => `/accounts/${accountId}/connections`

  test('shows status, sides, volume and last transfer, and each row leads to its connection', async () => {
    const connection = await stage.connect(accountId, 'Carries people')
    await stage.run(accountId, connection.id)
    const page = await stage.open(path())
    const row = rowOf(page, 'Carries people')
    await row.getByText('18 of 20').waitFor()
    await row.getByText('Active', { exact: true }).waitFor()
    await row.getByText('Partial', { exact: true }).waitFor()
    await row.getByText('PostgreSQL').filter({ visible: true }).waitFor()
    await rowOf(page, 'Orders 29').getByText('No transfers yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await row.getByText('18 of 20').click()
    await page.waitForURL(`**${path()}/${connection.id}`)
    await page.goBack()
    await page.getByRole('link', { name: 'Carries people' }).press('Enter')
    await page.waitForURL(`**${path()}/${connection.id}`)
  })

  test('searches, filters and pages, all of which is in the address', async () => {
    const page = await stage.open(path())
    await rowOf(page, 'Orders 29').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.waitForURL('**?page=2')
    await rowOf(page, 'Orders 1').waitFor()
    await page.getByRole('searchbox').fill('orders 2')
    await page.waitForURL('**?q=orders+2')
    await page.getByText('1–11 of 11').waitFor()
    await pick(page.getByRole('combobox', { name: 'Status' }), 'Active')
    await page.waitForURL('**?q=orders+2&status=active')
    await page.getByText('1–1 of 1').waitFor()
    await page.reload()
    await rowOf(page, 'Orders 20').waitFor()
    await page.getByRole('searchbox').fill('nothing like it')
    await page.getByText('No matching connections').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await rowOf(page, 'Orders 29').waitFor()
    assert(page.url().endsWith(path()))
  })

  test('has read the next page before it is asked for', async () => {
    const page = await stage.open(path())
    await rowOf(page, 'Orders 29').waitFor()
    const waited = page.waitForResponse((response) => /connections\?.*offset=25/.test(response.url()))
    await page.reload()
    await waited
    await page.waitForLoadState('networkidle')
    await page.route('**/es/**', (route) => route.abort())
    await page.getByRole('button', { name: 'Next page' }).click()
    await rowOf(page, 'Orders 1').waitFor()
  })

  test('updates without a reload until a transfer has ended', async () => {
    const connection = await stage.connect(accountId, 'Runs meanwhile')
    const page = await stage.open(path())
    const row = rowOf(page, 'Runs meanwhile')
    await row.getByText('No transfers yet').waitFor()
    await stage.run(accountId, connection.id)
    await row.getByText('Partial', { exact: true }).waitFor()
    await row.getByText('18 of 20').waitFor()
  })

  test('of the organization names the sub-account, and asks for one before a connection is made', async () => {
    const other = await stage.addAccount('Lumen Cosmetics')
    await stage.addSides(other.id)
    await stage.connect(other.id, `=cmd ${'long '.repeat(38)}`.trim(), { activate: false })
    const page = await stage.open('/connections')
    await rowOf(page, '=cmd').getByText('Lumen Cosmetics').waitFor()
    await page.getByRole('button', { name: 'New connection' }).click()
    const dialog = page.getByRole('dialog', { name: 'New connection' })
    assert(await dialog.getByRole('button', { name: 'Continue' }).isDisabled())
    await dialog.getByRole('combobox', { name: 'Sub-account' }).fill('lumen')
    await page.getByRole('option', { name: 'Lumen Cosmetics' }).click()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(`**/accounts/${other.id}/connections/new`)
  })

  test('lists what failed last time, shows an active connection as failing, and when it runs next', async () => {
    const { id } = await stage.connect(accountId, 'Fails tonight')
    await stage.run(accountId, id)
    await stage.client.setSchedule({ accountId, id, body: { cron: '0 6 * * *' } })
    await stage.sql(`update transfers set status = 'failed' where connection_id = '${id}'`)
    const page = await stage.open(path())
    const row = rowOf(page, 'Fails tonight')
    await row.getByText('Failing', { exact: true }).waitFor()
    await row.getByText(/^in \d+ (?:hour|minute|second)s?$/).waitFor()
    await page.getByText('Failed last time').click()
    await page.waitForURL('**?last=transfer_failed')
    await page.getByText('1–1 of 1').waitFor()
    await row.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.reload()
    await row.waitFor()
    await page.getByText('All', { exact: true }).click()
    await rowOf(page, 'Orders 30').waitFor()
  })

  test('acts on what is selected, and says what was refused', async () => {
    const { id } = await stage.addAccount('Bulk')
    await stage.addSides(id)
    for (const name of ['One', 'Two']) await stage.connect(id, name, { activate: false })
    await stage.connect(id, 'Three', { activate: true })
    const page = await stage.open(`/accounts/${id}/connections`)
    await page.getByRole('checkbox', { name: 'Select all connections of this page' }).check()
    const bar = page.getByRole('region', { name: 'Selected connections' })
    await bar.getByText('3 selected').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await bar.getByRole('button', { name: 'Run now' }).click()
    const refused = page.getByRole('dialog', { name: '2 of 3 refused' })
    await refused.getByText(/^One: .*active/i).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await refused.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('checkbox', { name: 'Select Three' }).uncheck()
    await bar.getByRole('button', { name: 'Activate' }).click()
    await rowOf(page, 'One').getByText('Active', { exact: true }).waitFor()
    await rowOf(page, 'Two').getByText('Active', { exact: true }).waitFor()
    await bar.waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: 'Select One' }).check()
    await bar.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete 1 connection?' }).getByRole('button', { name: 'Delete' }).click()
    await rowOf(page, 'One').getByText('Deleted', { exact: true }).waitFor()
    await rowOf(page, 'Two').getByText('Active', { exact: true }).waitFor()
  })

  test('tags what is selected, filters by tag and owner, and sorts by its headings, by the keyboard too', async () => {
    const { id } = await stage.addAccount('Labels')
    await stage.addSides(id)
    for (const name of ['Two', 'One', 'Three']) await stage.connect(id, name, { activate: false })
    const page = await stage.open(`/accounts/${id}/connections`)
    await page.getByRole('checkbox', { name: 'Select One' }).check()
    await page.getByRole('checkbox', { name: 'Select Two' }).check()
    await page.getByRole('button', { name: 'Tag', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Tag 2 connections' })
    await dialog.getByRole('combobox', { name: 'Add tags' }).fill('production')
    await dialog.getByRole('combobox', { name: 'Add tags' }).press('Enter')
    await dialog.getByRole('button', { name: 'Tag', exact: true }).click()
    await rowOf(page, 'One').getByText('production').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const heading = page.getByRole('columnheader', { name: 'Name' })
    await heading.getByRole('button').press('Enter')
    await page.waitForURL('**?sort=name')
    await until('it is sorted', async () => (await heading.getAttribute('aria-sort')) === 'ascending')
    await until('rows', async () => (await page.getByRole('row').nth(1).textContent())?.includes('One') === true)
    await page.goto(`/accounts/${id}/connections?tags=PRODUCTION&sort=-name`)
    await page.getByText('1–2 of 2').waitFor()
    await until('rows', async () => (await page.getByRole('row').nth(1).textContent())?.includes('Two') === true)
    await page.goto(`/accounts/${id}/connections?owner=none`)
    await page.getByText('1–3 of 3').waitFor()
  })

  test('is there on a phone, in the dark, and empty', async () => {
    const look = { width: 390, height: 844, theme: 'dark' } as const
    const page = await stage.open('/connections', { look })
    await rowOf(page, 'Orders 29').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert(await page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'))
    const { id } = await stage.addAccount('Empty')
    await page.goto(`/accounts/${id}/connections`)
    await page.getByText('No connections yet').waitFor()
    await page.getByRole('link', { name: 'New connection' }).first().click()
    await page.waitForURL(`**/accounts/${id}/connections/new`)
  })

  test('says what went wrong, and keeps what it shows while the service is away', async () => {
    const page = await stage.open(`${path()}?status=nonsense`)
    await page.getByRole('alert').getByText('query.status').waitFor()
    await page.goto(path())
    await rowOf(page, 'Orders 29').waitFor()
    await page.route('**/es/**', (route) => route.abort())
    await page.getByRole('searchbox').fill('orders 3')
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
    await page.unroute('**/es/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('1–2 of 2').waitFor()
  })
})

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: new RegExp(`^${name}( |$)`) }) })
