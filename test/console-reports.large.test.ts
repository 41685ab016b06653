import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import { type ConsoleStage, preparePeople, startConsole } from './harness/console.ts'

describe('the reports', { skip }, () => {
  const formula = '=HYPERLINK("http://x"), "quoted"'
  const today = new Date().toISOString().slice(0, 10)
  let stage: ConsoleStage
  let accountId: string
  let connectionIds: string[]
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 20)
    accountId = (await stage.addAccount('Acme Outdoor')).id
    await stage.addSides(accountId)
    const connections = [await stage.connect(accountId, formula), await stage.connect(accountId, 'Plain')]
    connectionIds = connections.map(({ id }) => id)
    for (const { id } of connections) await stage.run(accountId, id)
    await stage.addAccount('Silent')
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  test('of the organization sum every sub-account, with a chart, and lead on to its connections', async () => {
    const page = await stage.open('/reports')
    await page.getByRole('img', { name: '36 accepted, 4 rejected in total' }).waitFor()
    await page.locator('.recharts-surface').first().waitFor()
    assert.deepEqual(await figures(page, 'Acme Outdoor'), ['40', '36', '4', '0', '90%'])
    assert.deepEqual(await figures(page, 'Silent'), ['0', '0', '0', '0', '–'])
    assert.deepEqual(await figures(page, 'All 2'), ['40', '36', '4', '0', '90%'])
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('link', { name: 'Acme Outdoor' }).click()
    await page.waitForURL(`**/accounts/${accountId}/reports`)
    await page.getByRole('link', { name: 'Plain' }).click()
    await page.waitForURL(`**/accounts/${accountId}/connections/${connectionIds[1]}`)
  })

  test('keep days, grouping and search in the address', async () => {
    const page = await stage.open(`/accounts/${accountId}/reports`)
    await pick(page.getByRole('combobox', { name: 'Period' }), 'Last 7 days')
    await page.waitForURL('**?period=week')
    await page.getByText('Month', { exact: true }).click()
    await page.waitForURL('**?period=week&by=month')
    await page.getByRole('heading', { name: 'Records by month' }).waitFor()
    await page.getByRole('searchbox').fill('plain')
    await page.waitForURL('**&q=plain')
    await page.getByRole('row', { name: /^All 1/ }).waitFor()
    await page.reload()
    assert.deepEqual(await figures(page, 'All 1'), ['20', '18', '2', '0', '90%'])
    await page.getByRole('searchbox').fill('nothing like it')
    await page.getByText('No matches').waitFor()
  })

  test('take other days, and refuse those that are backwards or too many', async () => {
    const page = await stage.open(`/reports?period=custom&from=2026-02-01&until=2026-01-01`)
    await page.getByText('The last day must not be before the first').waitFor()
    assert(await page.getByRole('button', { name: 'Download CSV' }).isDisabled())
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByLabel('From').fill('2020-01-01')
    await page.getByText('Select at most 400 days').waitFor()
    await page.getByLabel('From').fill('')
    await page.getByText('Select a day').waitFor()
    await page.getByLabel('From').fill('2025-12-25')
    await page.getByText('No records moved in this period').waitFor()
    await page.getByLabel('Until').fill(today)
    await page.waitForURL(
      ({ searchParams }) => searchParams.get('from') === '2025-12-25' && searchParams.get('until') === today,
    )
  })

  test('are saved as CSV that no spreadsheet calculates', async () => {
    const page = await stage.open(`/accounts/${accountId}/reports?period=week`)
    const begun = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    const download = await begun
    assert.match(download.suggestedFilename(), new RegExp(`^connections-\\d{4}-\\d\\d-\\d\\d-to-${today}\\.csv$`))
    const [header, ...lines] = (await readFile(await download.path(), 'utf8')).split('\r\n')
    assert.equal(header, 'id,name,day,read,accepted,rejected,replayed,bytes')
    const quoted = `"'${formula.replaceAll('"', '""')}"`
    assert.equal(lines.length, 3)
    assert(lines[0]?.startsWith(`${connectionIds[0]},${quoted},${today},20,18,2,0,`), lines[0])
    assert(lines[1]?.startsWith(`${connectionIds[1]},Plain,${today},20,18,2,0,`), lines[1])
    await page.getByText('Saved a file with 2 lines').waitFor()
  })

  test('say why nothing could be saved', async () => {
    const page = await stage.open(`/accounts/${accountId}/reports`)
    await page.getByRole('row', { name: /^All 2 40/ }).waitFor()
    await page.route('**/es/**', (route) => route.abort())
    await page.getByRole('button', { name: 'Download CSV' }).click()
    await page.getByRole('region', { name: 'Notifications' }).getByText('The service cannot be reached').waitFor()
  })

  test('are there on a phone, in the dark', async () => {
    const page = await stage.open('/reports?period=quarter', { look: { width: 390, height: 844, theme: 'dark' } })
    await page.locator('.recharts-surface').first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert(await page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'))
  })
})

/** Figures in a row of the table: read, accepted, rejected, replayed and the accepted share. */
async function figures(page: Page, name: string): Promise<string[]> {
  const row = page.getByRole('row').filter({ hasText: name })
  await row.getByText('%').or(row.getByText('–')).first().waitFor()
  return (await row.getByRole('cell').allTextContents()).slice(-6, -1)
}
