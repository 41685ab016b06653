import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { connectors } from '@penstock/connectors'
import type { Page } from 'playwright-core'
import { accessibilityViolations, pick, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'

/** A folder for pictures of what the last test looks at. */
const pictures = process.env.PENSTOCK_PICTURES

const moving = connectors.filter(({ integrated, status }) => integrated && status !== 'withdrawn')
const sentenceBox = (page: Page) => page.getByRole('searchbox', { name: 'What do you want to move?' })

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
    const moving = (await tiles(page).allTextContents()).map((text) => text.includes('Available'))
    assert.deepEqual(
      moving,
      [...moving].sort((a, b) => Number(b) - Number(a)),
    )
    // Every listed connector moves data. Connectors that do not are withdrawn.
    assert.ok(moving.every(Boolean))
    assert.equal(await tiles(page).filter({ hasText: 'VideoAmp Audiences' }).count(), 0)
    const tile = tiles(page).filter({ hasText: 'Google Ads Customer Match' })
    for (const text of ['Audience activation · Customer match', 'Advertising platform', 'Destination'])
      await tile.getByText(text, { exact: true }).waitFor()
    const added = tiles(page).filter({ has: page.getByRole('link', { name: 'PostgreSQL', exact: true }) })
    for (const text of ['Data store', 'Database', 'Source', 'Destination', 'Available', 'Added'])
      await added.getByText(text, { exact: true }).waitFor()
    assert.equal(await page.getByRole('checkbox', { name: 'PostgreSQL' }).count(), 0)
    for (const [name, kind] of [
      ['Snowflake Source', 'Warehouse'],
      ['Amazon S3 Source', 'File store'],
    ] as const)
      await tiles(page)
        .filter({ has: page.getByRole('link', { name, exact: true }) })
        .getByText(kind, { exact: true })
        .waitFor()
    const wizard = await stage.open(path.replace(/catalogue.*/, 'connections/new'))
    await wizard.getByRole('button', { name: 'Snowflake Source' }).getByText('Data store · Warehouse').waitFor()
    await wizard.getByLabel('Search sources').fill('warehouse')
    await wizard.getByRole('button', { name: /^PostgreSQL/ }).waitFor({ state: 'detached' })
    assert.equal(await wizard.getByText('Cloud Storage Provider').count(), 0)
    await added.getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'PostgreSQL' }).waitFor()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.waitForURL(`**/connectors?configure=${postgresql.id}`)
    await page.getByRole('dialog', { name: 'Configure PostgreSQL' }).waitFor()
  })

  test('the page of a platform and its dialog say what to have ready, who provides it, and the way without an app', async () => {
    const meta = connectorBySlug('meta-custom-audiences')
    const { path } = await accountOf('Ready')
    const page = await stage.open(`${path}/${meta.id}`)
    const need = page.getByRole('region', { name: 'What you need' })
    await need.getByText('Business settings › Users › System users').waitFor()
    await need.getByText('the number after act= in the address of Ads Manager').waitFor()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: `Configure ${meta.name}` })
    await dialog.getByText('What to have ready').waitFor()
    await dialog.getByText('Without an app, use the method “Access token”').waitFor()
    await dialog.getByText('an administrator at Meta creates').first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('is searched and narrowed in the address, so that what was found can be shared', async () => {
    const { path } = await accountOf('Narrowed', postgresql)
    const page = await stage.open(path)
    await filterBy(page, 'Role', 'Source')
    await filterBy(page, 'Category', 'Data store')
    await filterBy(page, 'Kind of platform', 'File store')
    await filterBy(page, 'Data type', 'Data store')
    await sentenceBox(page).fill('s3')
    await found(page, '1 matching connector')
    await page.getByRole('checkbox', { name: 'Amazon S3 Source' }).waitFor()
    const { searchParams } = new URL(page.url())
    assert.deepEqual(Object.fromEntries(searchParams), {
      role: 'Source',
      category: 'data store',
      kind: 'File store',
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
    await page.getByRole('searchbox').fill('nonesuch')
    await page.getByText('No matching connectors').waitFor()
    const notHere = page.getByRole('region', { name: 'Not listed?' })
    for (const name of ['Read any HTTP API', 'Send to any HTTP API', 'Upload a file'])
      await notHere.getByRole('link', { name }).waitFor()
    await notHere.getByRole('link', { name: 'Read any HTTP API' }).click()
    await page.getByRole('heading', { level: 1, name: 'HTTP API' }).waitFor()
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
    assert.equal(await tile.isChecked(), true)
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

  test('reads a sentence as a route, which leads on with both sides chosen', async () => {
    const { id, path } = await accountOf('Sentence')
    const page = await stage.open(path)
    await sentenceBox(page).fill('shoppify orders to bigquery')
    const route = page.getByRole('region', { name: 'Route' })
    await route.getByText('Reads Orders').waitFor()
    for (const text of ['Creates the table', /^Google BigQuery needs: /]) await route.getByText(text).waitFor()
    assert.equal(await route.getByText('Not connected yet').count(), 2)
    for (const name of ['Change Shopify Admin', 'Change Orders', 'Change Google BigQuery Data Store'])
      await page.getByRole('button', { name }).waitFor()
    await page.getByRole('heading', { name: 'Matching connectors' }).waitFor()
    await found(page, '3 matching connectors')
    await route.getByRole('button', { name: 'Start this route' }).click()
    const [shopify, bigquery] = [connectorBySlug('shopify-admin').id, connectorBySlug('google-bigquery-destination').id]
    await page.waitForURL(`**/connections/new?source=${shopify}&step=settings&destination=${bigquery}`)
    await page.getByRole('region', { name: 'Settings' }).waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Stream' }).inputValue(), 'Orders')
    assert.equal((await stage.client.listAddedConnectors({ accountId: id })).total, 2)
  })

  test('reads two destinations, the second of which comes next, and proposes what the sub-account has as the source', async () => {
    const { id, path } = await accountOf('Two', postgresql)
    await stage.client.configureConnector({
      accountId: id,
      id: postgresql.id,
      body: { secretConfig: stage.targetSecrets },
    })
    const page = await stage.open(path)
    await sentenceBox(page).fill('purchases to Meta and Google')
    const route = page.getByRole('region', { name: 'Route' })
    await route.getByText('Suggested source · Connected').waitFor()
    await route.getByText('Then: Google Ads Conversions').waitFor()
    // A word is changed by the keyboard: the sentence changes with it.
    await page.getByRole('button', { name: 'Change Google Ads Conversions' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Google Ads Click Conversions' }).press('Enter')
    await route.getByText('Then: Google Ads Click Conversions').waitFor()
    assert.equal(await sentenceBox(page).inputValue(), 'purchases to Meta and Google Ads Click Conversions')
    await page.getByRole('button', { name: 'Use Uploaded file' }).click()
    await route.getByText('Uploaded file', { exact: true }).waitFor()
    await page.goBack()
    await route.getByRole('link', { name: 'PostgreSQL' }).waitFor()
    await route.getByRole('button', { name: 'Start this route' }).click()
    await page.waitForURL(`**/connections/new?source=${postgresql.id}&**`)
    await page.getByText('Destination 1 of 2: Meta').waitFor()
    await page
      .getByRole('navigation', { name: 'Destinations of this set' })
      .getByText('Google Ads Click Conversions · Not created')
      .waitFor()
  })

  test('says why a route is not possible, and starts with one side', async () => {
    const { path } = await accountOf('One side')
    const page = await stage.open(path)
    await sentenceBox(page).fill('ga4 to facebook audiences')
    await page.getByText('This route is not possible').waitFor()
    await page.getByText('reporting data cannot go to audience activation.').waitFor()
    for (const [text, source] of [
      ['rest api', 'http-api'],
      ['upload a file', 'file-upload'],
    ] as const) {
      await sentenceBox(page).fill(text)
      await page
        .getByRole('region', { name: 'Route' })
        .getByRole('link', { name: connectorBySlug(source).name })
        .waitFor()
    }
    await page.getByText('Choose the destination next').waitFor()
    await page.getByRole('button', { name: 'Start this route' }).click()
    await page.waitForURL(`**/connections/new?source=${connectorBySlug('file-upload').id}&step=destination`)
  })

  test('has a page for each connector, by its definition', async () => {
    const { id, path } = await accountOf('Pages', postgresql)
    await stage.client.configureConnector({
      accountId: id,
      id: postgresql.id,
      body: { secretConfig: stage.targetSecrets },
    })
    const page = await stage.open(`${path}/${postgresql.id}`)
    const part = (name: string) => page.getByRole('region', { name })
    for (const text of [
      'All rows',
      'New and changed rows',
      'Change log',
      'A column that you choose',
      'Any range of days or times',
    ])
      await part('What it reads').getByText(text, { exact: true }).waitFor()
    for (const text of ['Add', 'Update by key', 'Removed if rows are written by a key'])
      await part('What it accepts').getByText(text, { exact: true }).waitFor()
    await part('Limits')
      .getByText(/^Up to .* rows or /)
      .waitFor()
    await part('What you need').getByText('Host', { exact: true }).waitFor()
    await part('Tested against')
      .getByText(/^PostgreSQL 18/)
      .waitFor()
    const notes = part('Before you use it')
    const before = await notes.getByRole('listitem').count()
    await notes.getByRole('button', { name: /^Show all / }).click()
    assert((await notes.getByRole('listitem').count()) > before)
    await page.getByRole('link', { name: 'Read from PostgreSQL' }).click()
    await page.waitForURL(`**/connections/new?source=${postgresql.id}&step=destination`)
    await page.goto(`${path}/${connectorBySlug('shopify-admin').id}`)
    await part('Tested against').getByText('Not Shopify itself').waitFor()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('dialog', { name: 'Configure Shopify Admin' }).waitFor()
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
      // Each theme at one width, like every screen. Pictures are taken of both widths.
      for (const width of pictures ? [390, 1440] : [theme === 'light' ? 1440 : 390]) {
        await page.setViewportSize({ width, height: 900 })
        for (const [name, place, part] of [
          ['route', '?q=shopify+orders+to+bigquery', 'Route'],
          ['two', '?q=purchases+to+Meta+and+Google', 'Route'],
          ['page', `/${postgresql.id}`, 'Tested against'],
        ] as const) {
          await page.goto(path + place)
          await page.getByRole('region', { name: part }).waitFor()
          await page.waitForLoadState('networkidle')
          assert.deepEqual(await accessibilityViolations(page), [], `${name} at ${width}`)
          await until('it fits', () => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'))
          if (pictures)
            await page.screenshot({ path: join(pictures, `catalogue-${name}-${width}-${theme}.png`), fullPage: true })
        }
      }
    })
  }
})
