import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { DiscoverValues } from '@penstock/wire'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import {
  type ConsoleStage,
  enterValue,
  localFolder,
  openAdvanced,
  openValues,
  pickValue,
  postgresql,
  startConsole,
} from './harness/console.ts'
import { freePort } from './harness/process.ts'

describe('picking the values of settings', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await mkdir(join(stage.folder, 'exports/2026'), { recursive: true })
    await mkdir(join(stage.folder, 'out'))
    await writeFile(join(stage.folder, 'people.csv'), 'id\n1\n')
    await writeFile(join(stage.folder, 'exports/2026/orders.csv'), 'id\n1\n')
    const many = Array.from({ length: 60 }, (_, i) => `create table many.t${String(i).padStart(2, '0')} (id int);`)
    await stage.target.query(`
      create schema shop;
      create table shop.orders (shop text, id integer, paid numeric, changed timestamptz, primary key (shop, id));
      create view shop.orders_of_today as select * from shop.orders;
      insert into shop.orders select 'berlin', i from generate_series(1, 1200) i;
      analyze shop.orders;
      create schema many;
      ${many.join('')}`)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const ids = (source = postgresql.id, destination = localFolder.id) =>
    `?source=${source}&destination=${destination}&step=settings`
  const newAccount = async (name: string): Promise<string> => {
    const { id } = await stage.addAccount(name)
    await stage.addSides(id)
    return id
  }
  const openWizard = (accountId: string, query = ids(), options?: Parameters<ConsoleStage['open']>[1]) =>
    stage.open(`/accounts/${accountId}/connections/new${query}`, options)
  const saved = async (accountId: string) => {
    const { reply } = await stage.client.listConnections({ accountId })
    return (await stage.client.getConnection({ accountId, id: reply[0]?.id ?? '' })).reply
  }
  const field = (scope: Page | Locator, label: string) => scope.getByRole('combobox', { name: label, exact: true })
  const rows = (list: Locator) => list.getByRole('option')
  const search = (list: Locator) => list.getByRole('combobox', { name: /^Search: / })

  test('picks a schema, a table, its key columns and a cursor column, each list from what was picked before', async () => {
    const accountId = await newAccount('Tables')
    const page = await openWizard(accountId)
    await pickValue(page, 'Schema', 'shop')
    const tables = await openValues(page, 'Table')
    assert.deepEqual(await textsOf(rows(tables), 2), ['orders about 1,200 rows', 'orders_of_today view'])
    await tables.getByText('2 found').waitFor()
    await tables.getByText('Read just now').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await rows(tables).first().click()
    assert.equal(await field(page, 'Table').textContent(), 'orders')

    await openAdvanced(sourceOf(page))
    const keys = await openValues(page, 'Key columns')
    assert.deepEqual(await textsOf(rows(keys), 4), [
      'shop key text',
      'id key integer',
      'paid numeric',
      'changed timestamp with time zone',
    ])
    for (const at of [1, 0, 2, 2]) await rows(keys).nth(at).click()
    assert.deepEqual(await rows(keys).evaluateAll((all) => all.map((one) => one.getAttribute('aria-selected'))), [
      'true',
      'true',
      'false',
      'false',
    ])
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Escape')
    assert.equal(await field(page, 'Key columns').textContent(), 'id, shop')

    await page.getByRole('radio', { name: 'New and changed rows' }).check()
    await pickValue(page, 'Cursor column', 'changed')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByRole('heading', { name: 'Map fields' }).waitFor()
    const { srcConnectionConfig } = await saved(accountId)
    const { schema, table, keyColumns, markerColumn } = srcConnectionConfig
    assert.deepEqual([schema, table, keyColumns, markerColumn], ['shop', 'orders', 'id, shop', 'changed'])

    // The first step again with the saved values: another schema has other tables.
    await page.getByRole('button', { name: 'Back', exact: true }).click()
    await pickValue(page, 'Schema', 'many')
    const others = await openValues(page, 'Table')
    await rows(others).first().waitFor()
    assert.match((await rows(others).first().textContent()) ?? '', /^t00/)
  })

  test('searches at the server, shows page after page, and reads the list again', async () => {
    const accountId = await newAccount('Many')
    const page = await openWizard(accountId)
    await pickValue(page, 'Schema', 'many')
    const asked: DiscoverValues[] = []
    page.on('request', (request) => {
      if (request.url().includes('/discover')) asked.push(request.postDataJSON())
    })
    const list = await openValues(page, 'Table')
    await list.getByText('The first 50').waitFor()
    await list.getByRole('button', { name: 'Show more' }).click()
    await list.getByText('60 found').waitFor()
    await search(list).and(page.locator(':focus')).waitFor()
    assert.equal(await rows(list).count(), 60)
    await search(list).fill('T5')
    await list.getByText('10 found').waitFor()
    assert.deepEqual(
      asked.map(({ q, cursor }) => [q, cursor]),
      [
        [undefined, undefined],
        [undefined, '50'],
        ['T5', undefined],
      ],
    )
    await stage.target.query('create table many.t5_new (id int)')
    await list.getByRole('button', { name: 'Read the list again' }).click()
    await list.getByText('11 found').waitFor()
    assert.deepEqual(asked.at(-1), {
      field: 'table',
      role: 'Source',
      settings: { schema: 'many' },
      q: 'T5',
      fresh: true,
    })
    await search(list).fill('nothing like it')
    await list.getByText('Nothing found').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('goes through folders to a file, and takes a folder and a name that are not there', async () => {
    const accountId = await newAccount('Folders')
    const page = await openWizard(accountId, ids(localFolder.id, localFolder.id))
    const source = page.getByRole('region', { name: 'Source: Local folder' })
    const list = await openValues(source, 'Files')
    assert.deepEqual(await textsOf(rows(list), 3), ['exports/ folder', 'out/ folder', 'people.csv file'])
    await rows(list).first().click()
    await rows(list).getByText('2026/', { exact: true }).click()
    await rows(list).getByText('orders.csv').waitFor()
    assert.equal(await search(list).inputValue(), 'exports/2026/')
    await list.getByRole('button', { name: 'To the folder above' }).click()
    await rows(list).getByText('2026/', { exact: true }).click()
    await rows(list).getByText('orders.csv').click()
    await list.waitFor({ state: 'detached' })
    assert.equal(await field(source, 'Files').textContent(), 'exports/2026/orders.csv')

    const again = await openValues(source, 'Files')
    await rows(again).and(again.locator('[aria-selected=true]')).getByText('orders.csv').waitFor()
    await page.keyboard.press('Escape')
    await enterValue(source, 'Files', 'exports/*/*.csv')

    const destination = page.getByRole('region', { name: 'Destination: Local folder' })
    const folders = await openValues(destination, 'Subfolder')
    await rows(folders).getByText('out/', { exact: true }).click()
    await folders.getByText('None found').waitFor()
    await folders.getByRole('button', { name: 'Use “out/”' }).click()
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByRole('heading', { name: 'Map fields' }).waitFor()
    const { srcConnectionConfig, destConnectionConfig } = await saved(accountId)
    assert.equal(srcConnectionConfig.files, 'exports/*/*.csv')
    assert.equal(destConnectionConfig.subfolder, 'out/')
  })

  test('says why the platform does not answer, and lets the name be entered', async () => {
    const accountId = await newAccount('Down')
    const down = { ...stage.targetSecrets, port: await freePort() }
    await stage.client.configureConnector({ accountId, id: postgresql.id, body: { secretConfig: down } })
    const page = await openWizard(accountId)
    const list = await openValues(page, 'Table')
    const refusal = list.getByRole('alert')
    await refusal.getByText('The list could not be read').waitFor()
    assert.match((await refusal.textContent()) ?? '', /PostgreSQL|server|connect/i)
    assert.doesNotMatch((await refusal.textContent()) ?? '', /body\.|undefined/)
    assert.deepEqual(await accessibilityViolations(page), [])
    await refusal.getByRole('button', { name: 'Try again' }).click()
    await refusal.waitFor()
    await list.getByRole('button', { name: 'Enter a name' }).click()
    const typed = page.getByRole('textbox', { name: 'Table', exact: true }).and(page.locator(':focus'))
    await typed.fill('orders')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Choose from the list: Table' }).click()
    await search(list).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await field(page, 'Table').textContent(), 'orders')
    await openAdvanced(sourceOf(page))
    await enterValue(page, 'Key columns', 'id')
    await enterValue(page, 'Key columns', 'shop')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByRole('heading', { name: 'Map fields' }).waitFor()
    const { table, keyColumns } = (await saved(accountId)).srcConnectionConfig
    assert.deepEqual([table, keyColumns], ['orders', 'id, shop'])
  })

  test('has plain text fields until the connector is configured, and lists from then on', async () => {
    const { id: accountId } = await stage.addAccount('Bare')
    const page = await openWizard(accountId, ids(localFolder.id, postgresql.id))
    await page.getByRole('button', { name: 'Add Local folder' }).click()
    await page.getByRole('textbox', { name: 'Files' }).fill('typed.csv')
    await page.getByRole('textbox', { name: 'Table', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Configure Local folder' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Folder' }).fill(stage.folder)
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await field(page, 'Files').getByText('typed.csv').waitFor()
    await pickValue(page, 'Files', 'people.csv')
  })

  test('is used by the keyboard alone, in the drawer of a connection too', async () => {
    const accountId = await newAccount('Keys')
    const { reply } = await stage.client.createConnection({
      accountId,
      body: {
        name: 'Keys',
        srcConnectorId: postgresql.id,
        destConnectorId: localFolder.id,
        srcConnectionConfig: { schema: 'shop', table: 'old' },
      },
    })
    const page = await stage.open(`/accounts/${accountId}/connections/${reply.id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: /^Edit/ }).click()
    const drawer = page.getByRole('dialog', { name: /Keys/ })
    const focused = (one: Locator) => one.and(page.locator(':focus')).waitFor()
    const table = field(drawer, 'Table')
    await table.focus()
    await page.keyboard.press('Enter')
    const list = page.getByRole('dialog', { name: 'Values of Table' })
    await focused(search(list))
    await list.getByText('2 found').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    await focused(table)
    assert(await drawer.isVisible(), 'the drawer stays open')

    await page.keyboard.press('Enter')
    await focused(search(list))
    await page.keyboard.type('today')
    await list.getByText('1 found').waitFor()
    await page.keyboard.press('Tab')
    await focused(list.getByRole('button', { name: 'Clear the search' }))
    await page.keyboard.press('Enter')
    await list.getByText('2 found').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const active = await search(list).getAttribute('aria-activedescendant')
    assert.match((await page.locator(`[id="${active}"]`).textContent()) ?? '', /^orders_of_today/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await list.waitFor({ state: 'detached' })
    await focused(table)
    assert.equal(await table.textContent(), 'orders')

    // The focus stays in the list, and goes to the text field instead.
    await page.keyboard.press('Space')
    await focused(search(list))
    await list.getByText('2 found').waitFor()
    await page.keyboard.press('Shift+Tab')
    await focused(list.getByRole('button', { name: 'Read the list again' }))
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await focused(drawer.getByRole('textbox', { name: 'Table', exact: true }))
    await page.keyboard.press('Control+A')
    await page.keyboard.type('orders_of_today')
    await page.keyboard.press('Enter')
    await drawer.waitFor({ state: 'detached' })
    assert.equal((await saved(accountId)).srcConnectionConfig.table, 'orders_of_today')
  })

  test('keeps its size while it is read, and fits a phone in both themes', async () => {
    const accountId = await newAccount('Looks')
    for (const look of [
      { width: 1440, height: 900, theme: 'light' },
      { width: 1440, height: 900, theme: 'dark' },
      { width: 390, height: 844, theme: 'light' },
      { width: 390, height: 844, theme: 'dark' },
    ] as const) {
      const page = await openWizard(accountId, ids(), { look })
      await pickValue(page, 'Schema', 'many')
      let answer = () => {}
      const held = new Promise<void>((resolve) => {
        answer = resolve
      })
      await page.route(/\/discover/, async (route) => {
        await held
        await route.continue()
      })
      const list = await openValues(page, 'Table')
      await list.getByText('Reading the list…').waitFor()
      /** Its place in the page: a search field under the header is scrolled into sight when it gets the focus. */
      const placeOf = async () => {
        const box = await list.boundingBox()
        return box && { ...box, y: box.y + (await page.evaluate<number>('scrollY')) }
      }
      const before = await placeOf()
      answer()
      await list.getByText('The first 50').waitFor()
      assert.deepEqual(await placeOf(), before, 'nothing moves')
      await search(list).fill('t1')
      await list.getByText('10 found').waitFor()
      assert.deepEqual(await placeOf(), before, 'nothing moves')
      const [left = 0, right = 0] = before ? [before.x, before.x + before.width] : []
      assert(left >= 0 && right <= look.width, `the list is from ${left} to ${right}`)
      assert((await page.evaluate<number>('document.documentElement.scrollWidth')) <= look.width)
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.unrouteAll({ behavior: 'wait' })
    }
  })
})

/** The texts of `n` rows, with spaces between their parts. */
async function textsOf(rows: Locator, n: number): Promise<string[]> {
  await rows.nth(n - 1).waitFor()
  const texts = await rows.evaluateAll((all) =>
    all.map((one) => [...one.children].map(({ textContent }) => textContent).filter(Boolean)),
  )
  return texts.map((parts) => parts.join(' '))
}

const sourceOf = (page: Page) => page.getByRole('region', { name: /^Source: / })
