import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { connectors } from '@penstock/connectors'
import type { Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'

const moving = connectors.filter(({ integrated, status }) => integrated && status !== 'withdrawn')

describe('the catalogue, in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const accountOf = async (name: string, ...added: { id: string }[]) => {
    const { id } = await stage.addAccount(name)
    if (added.length > 0)
      await stage.client.addConnectors({ accountId: id, body: { connectorIds: added.map((one) => one.id) } })
    return { id, path: `/accounts/${id}/catalogue` }
  }
  const tiles = (page: Page) => page.getByRole('list', { name: 'Catalogue' }).getByRole('listitem')
  const found = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
  const filterBy = async (page: Page, filter: string, term: string) => {
    await pick(page.getByRole('combobox', { name: filter, exact: true }), term)
  }

  test('shows every connector with what it is, and which are added', async () => {
    const { id, path } = await accountOf('All', postgresql)
    const page = await stage.open(path)
    const { total } = await stage.client.listConnectors({ accountId: id })
    await found(page, `${total} connectors`)
    assert.equal(await tiles(page).count(), total)
    // Connectors that move data come first.
    const moving = (await tiles(page).allInnerTexts()).map((text) => text.includes('Available'))
    assert.deepEqual(
      moving,
      [...moving].sort((a, b) => Number(b) - Number(a)),
    )
    assert.ok(moving[0] && !moving.at(-1))
    const tile = tiles(page).filter({ hasText: 'Google Ads Customer Match' })
    for (const text of ['Audience activation · Customer match', 'Demand-Side Platform (DSP)', 'Destination'])
      await tile.getByText(text, { exact: true }).waitFor()
    const unmoved = tiles(page).filter({ hasText: 'VideoAmp Audiences' })
    assert.equal(await unmoved.getByText('Available').count(), 0)
    const added = page.getByRole('link', { name: 'PostgreSQL' })
    for (const text of ['Source', 'Destination', 'Available', 'Added'])
      await added.getByText(text, { exact: true }).waitFor()
    assert.equal(await page.getByRole('checkbox', { name: 'PostgreSQL' }).count(), 0)
    await added.click()
    await page.waitForURL(`**/connectors?configure=${postgresql.id}`)
    await page.getByRole('dialog', { name: 'Configure PostgreSQL' }).waitFor()
  })

  test('is searched and narrowed in the address, so that what was found can be shared', async () => {
    const { path } = await accountOf('Narrowed', postgresql)
    const page = await stage.open(path)
    await filterBy(page, 'Role', 'Source')
    await filterBy(page, 'Category', 'Data store')
    await filterBy(page, 'Platform type', 'Cloud Storage Provider')
    await filterBy(page, 'Data type', 'Data store')
    await page.getByRole('searchbox', { name: 'Search the catalogue' }).fill('s3')
    await found(page, '1 matching connector')
    await page.getByRole('checkbox', { name: 'Amazon S3 Source' }).waitFor()
    const { searchParams } = new URL(page.url())
    assert.deepEqual(Object.fromEntries(searchParams), {
      role: 'Source',
      category: 'data store',
      platform: 'Cloud Storage Provider',
      data: 'data store',
      q: 's3',
    })
    const other = await stage.open(page.url())
    await found(other, '1 matching connector')
    await page.goBack()
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await page.getByRole('checkbox', { name: 'Adobe Audience Segments' }).waitFor()
    assert.equal(new URL(page.url()).search, '')
    await page.getByRole('checkbox', { name: 'Available' }).press('Space')
    await found(page, `${moving.length} matching connectors`)
    await page.getByRole('checkbox', { name: 'Not added yet' }).press('Space')
    await found(page, `${moving.length - 1} matching connectors`)
    await page.getByRole('searchbox').fill('no such connector')
    await page.getByText('No matching connectors').waitFor()
  })

  test('adds several connectors at once, picked over several searches, and then configures them', async () => {
    const { id, path } = await accountOf('Several')
    const page = await stage.open(path)
    const wanted = [postgresql, localFolder, connectorBySlug('meta-custom-audiences')]
    for (const { name } of wanted) {
      await page.getByRole('searchbox').fill(name)
      // Until then the tile still moves, and a click can miss it.
      await found(page, '1 matching connector')
      await page.getByRole('checkbox', { name, exact: true }).click()
    }
    const bar = page.getByRole('region', { name: 'Selection' })
    await bar.getByText('3 selected').waitFor()
    await bar.getByRole('button', { name: 'Add 3 connectors' }).click()
    await page.getByText('3 connectors were added').waitFor()
    await page.waitForURL(`**/accounts/${id}/connectors`)
    for (const { name } of wanted) await page.getByRole('button', { name, exact: true }).waitFor()
    const { total } = await stage.client.listAddedConnectors({ accountId: id })
    assert.equal(total, wanted.length)
  })

  test('is used with the keyboard: one that is picked can be put back, and one alone is configured at once', async () => {
    const { path } = await accountOf('Keyboard')
    const page = await stage.open(path)
    const tile = page.getByRole('checkbox', { name: 'Adobe Audience Segments' })
    await tile.focus()
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Add 1 connector', exact: true }).waitFor()
    assert.equal(await tile.getAttribute('aria-checked'), 'true')
    await page.keyboard.press('Space')
    await page.getByRole('region', { name: 'Selection' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Add 1 connector', exact: true }).press('Enter')
    await page.waitForURL('**/connectors?configure=*')
    await page.getByRole('dialog', { name: 'Configure Adobe Audience Segments' }).waitFor()
  })

  test('says what is wrong where nothing can be added, and keeps what was picked', async () => {
    const { id, path } = await accountOf('Deleted under it')
    const page = await stage.open(path)
    await page.getByRole('checkbox', { name: 'Adobe Audience Segments' }).click()
    await stage.client.deleteAccount({ id })
    await page.getByRole('button', { name: 'Add 1 connector', exact: true }).click()
    await page.getByRole('alert').getByText('Request').first().waitFor()
    await page.getByText('1 selected').waitFor()
  })

  for (const theme of ['light', 'dark'] as const) {
    test(`is accessible, in the ${theme} theme and on a phone`, async () => {
      const { path } = await accountOf(`Everyone, ${theme}`, postgresql)
      const page = await stage.open(path, { look: { width: 390, height: 844, theme } })
      await page.getByRole('checkbox', { name: 'Adobe Audience Segments' }).click()
      await page.getByText('1 selected').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      await until('it fits', () => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'))
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.getByRole('checkbox', { name: 'Available' }).press('Space')
      await found(page, `${moving.length} matching connectors`)
      assert.deepEqual(await accessibilityViolations(page), [])
    })
  }
})
