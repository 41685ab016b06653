import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { normalisationGroups } from '@penstock/wire'
import type { Page } from 'playwright-core'
import { accessibilityViolations, type Look, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, postgresql, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

/** Expressions, forms and the list of all columns in the step *Mapping*, for a destination that accepts any columns. */

const album = process.env.PENSTOCK_PICTURES
const looks: readonly Look[] = [
  { width: 1440, height: 1000, theme: 'light' },
  { width: 1440, height: 1000, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]

describe('expressions and forms in the wizard', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    const lines = ['id,Umsatz gesamt (€),Land,Mobil,Geburtsdatum']
    for (let n = 1; n <= 20; n++) {
      const net = n % 7 === 0 ? 'k.A.' : `"1.${100 + n},50"`
      lines.push(`${n},${net},${n % 2 ? 'DE' : 'AT'},0171 55501${10 + n},31.12.19${60 + n}`)
    }
    await writeFile(join(stage.folder, 'kunden.csv'), `${lines.join('\n')}\n`)
    const names = Array.from({ length: 60 }, (_, n) => `spalte_${n + 1}`)
    await writeFile(join(stage.folder, 'sixty.csv'), `${names.join(',')}\n${names.map((_, n) => n).join(',')}\n`)
    const columns = names.map((name) => `${name} text`).join(', ')
    await stage.target.query(`create table sixty (${columns})`)
    await stage.target.query('create table kunden (id text, netto numeric, mobil text)')
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const open = async (name: string, file: string, table: string) => {
    const { id: accountId } = await stage.addAccount(name)
    await stage.addSides(accountId)
    const { id } = await stage.connect(accountId, name, { activate: false, file, table })
    const page = await stage.open(`/accounts/${accountId}/connections/new?connection=${id}&step=mapping`)
    return { page, accountId, id }
  }
  const shoot = async (page: Page, name: string) => {
    for (const [at, look] of looks.entries()) {
      await setLook(page, look)
      await until(`${name} is not wider than the screen`, () =>
        page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'),
      )
      if (album) await page.screenshot({ path: join(album, `${name}-${at}.png`), fullPage: true })
      assert.deepEqual(await accessibilityViolations(page), [], `${name} ${at}`)
    }
    await setLook(page, looks[0] as Look)
  }

  test('an expression has results of three rows, errors at their place with a fix, suggestions and functions', async () => {
    const { page } = await open('Expressions', 'kunden.csv', 'kunden')
    await page.getByText('Selected columns').click()
    await page.getByRole('textbox', { name: 'Sent as, column 2' }).fill('netto')
    await page.getByRole('combobox', { name: 'Source of netto' }).click()
    await page.getByRole('option', { name: 'An expression' }).click()
    const expression = page.getByRole('textbox', { name: 'Expression for netto' })
    assert.equal(await expression.inputValue(), 'row["Umsatz gesamt (€)"]')
    await expression.fill('round(number(row["Umsatz gesamt (€)"], "comma") / 1.19, 2)')
    const rows = page.getByRole('listitem').filter({ hasText: /^Row \d/ })
    await rows.filter({ hasText: 'Row 1' }).filter({ hasText: '1.101,50' }).filter({ hasText: '925.63' }).waitFor()
    await rows.filter({ hasText: 'Row 7' }).filter({ hasText: 'k.A.' }).filter({ hasText: 'is not a number' }).waitFor()
    assert.equal(await rows.count(), 3)
    const before = await rows.allInnerTexts()
    await page.getByRole('button', { name: 'Other rows' }).first().click()
    await rows.filter({ hasText: 'is not a number' }).waitFor()
    assert(!before.includes((await rows.first().innerText()) ?? ''), 'other rows are shown')
    await page.getByText('2 of 20 rows would be rejected.').first().waitFor()
    assert.equal(
      await page.getByRole('region', { name: 'Columns not used' }).count(),
      0,
      'the expression uses its column',
    )
    await shoot(page, 'expression')

    // Ctrl+Space suggests completions of the word at the caret. Enter inserts one.
    await expression.fill('Lan')
    await expression.press('Control+Space')
    const search = page.getByRole('combobox', { name: 'Search columns and functions' })
    await search.and(page.locator(':focus')).waitFor()
    assert.equal(await search.inputValue(), 'Lan')
    await search.press('Enter')
    await until('the column is inserted', async () => (await expression.inputValue()) === 'row.Land')
    await expression.and(page.locator(':focus')).waitFor()

    // Alt+Down leads to the functions and Alt+Up back. Enter inserts a function around the selection.
    await expression.press('Control+A')
    await expression.press('Alt+ArrowDown')
    const functions = page.getByRole('region', { name: 'Functions' })
    await functions.getByRole('textbox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('lower')
    await page.keyboard.press('ArrowDown')
    await functions.getByText('lower("Ann") → "ann"').waitFor()
    await page.keyboard.press('Enter')
    await until('the function is inserted', async () => (await expression.inputValue()) === 'lower(row.Land)')
    await expression.press('Alt+ArrowDown')
    await functions.getByRole('textbox').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Alt+ArrowUp')
    await expression.and(page.locator(':focus')).waitFor()
    await shoot(page, 'expression-functions')

    const filter = page.getByRole('textbox', { name: 'Filter records' })
    await filter.fill('row.Land == "DE" && bool(row.Mobil')
    await page.getByText('The expression is not closed: bool( needs ).').waitFor()
    await expression.fill('lower(row.Lond)')
    await page.getByText('The expression has no column Lond. Did you mean Land?').waitFor()
    await page.getByText('2 errors').first().waitFor()
    await shoot(page, 'expression-errors')
    // F8 goes through the errors, and selects the part that is wrong.
    const selected = () =>
      page.evaluate<string>(
        'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
      )
    await page.keyboard.press('F8')
    assert.equal(await selected(), 'bool(')
    await page.keyboard.press('F8')
    assert.equal(await selected(), 'row.Lond')
    await page.getByRole('button', { name: 'Use row.Land' }).click()
    await page.getByRole('button', { name: 'Add )' }).click()
    assert.equal(await filter.inputValue(), 'row.Land == "DE" && bool(row.Mobil)')
    await filter.fill('row.Land == "DE"')
    await page.getByText('10 of 20 rows would be sent.').first().waitFor()
    assert.equal(await page.locator('[data-problem]').count(), 0)
  })

  test('the forms of a column of a table are in the same groups, with examples and values that fit', async () => {
    const { id: accountId } = await stage.addAccount('Table')
    await stage.addSides(accountId)
    await stage.target.query(
      `create table members (id int primary key, born text); insert into members values (1, '31.12.1985')`,
    )
    const { reply } = await stage.client.createConnection({
      accountId,
      body: {
        name: 'Members',
        srcConnectorId: postgresql.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { table: 'members' },
        destConnectionConfig: { table: 'kunden' },
      },
    })
    const page = await stage.open(`/accounts/${accountId}/connections/new?connection=${reply.id}&step=mapping`)
    await page.getByText('Selected columns').click()
    await page.getByRole('combobox', { name: 'Normalise born' }).click()
    const list = page.getByRole('listbox', { name: 'Normalise born' })
    const dates = list.getByRole('group', { name: 'Dates' })
    const option = dates.getByRole('option').filter({ hasText: '31.12.1985 → 19851231' })
    await option.waitFor()
    await list.locator('[aria-description="fits 1 value"]').first().waitFor()
    for (const name of normalisationGroups) {
      assert.ok((await list.getByRole('group', { name }).getByRole('option').count()) > 0, name)
    }
  })

  test('the forms are in groups with an example and the number of values that fit, next to the result', async () => {
    const { page, accountId, id } = await open('Forms', 'kunden.csv', 'kunden')
    await page.getByText('Selected columns').click()
    const normalise = page.getByRole('combobox', { name: 'Normalise Mobil' })
    await normalise.click()
    const list = page.getByRole('listbox', { name: 'Normalise Mobil' })
    await list.getByRole('option').nth(34).waitFor()
    assert.equal(await list.getByRole('option').count(), 35)
    await page.getByText('fits of 20 values').waitFor()
    const search = page.getByRole('combobox', { name: 'Search 35 forms' })
    await search.and(page.locator(':focus')).waitFor()
    await search.fill('phone')
    await search.press('ArrowDown')
    const result = page.getByRole('region', { name: 'Normalise Mobil' })
    await result.getByText('0171 5550111').waitFor()
    // Without a country, a national number is not valid. The column Land contains one in each row.
    await result.getByText('+491715550111').waitFor()
    await shoot(page, 'forms')
    await search.press('Enter')
    await normalise.and(page.locator(':focus')).waitFor()
    assert.equal(await normalise.innerText(), 'Phone number, with +')
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('region', { name: 'Activation' }).waitFor()
    const { reply } = await stage.client.getConnection({ accountId, id })
    const mapping = JSON.parse(String(reply.destConnectionConfig.mapping))
    assert.deepEqual(mapping.Mobil, { column: 'Mobil', normalise: 'phone-e164' })
  })

  test('all columns are listed, those that are not sent too, and sixty equal pairs are one line of the review', async () => {
    const { page } = await open('Sixty', 'sixty.csv', 'sixty')
    const sent = page.getByRole('list', { name: '60 columns are sent' })
    await sent.getByRole('listitem').nth(59).waitFor()
    await shoot(page, 'columns-all')
    await page.getByText('Selected columns').click()
    const more = page.getByRole('list', { name: '30 more columns' })
    await more.getByText('spalte_60').waitFor()
    await more.getByRole('button', { name: 'Remove spalte_60' }).click()
    const unused = page.getByRole('region', { name: 'Columns not used' })
    await unused.getByRole('button', { name: 'Send spalte_60' }).waitFor()
    await shoot(page, 'columns-chosen')
    await unused.getByRole('button', { name: 'Send spalte_60' }).click()
    await unused.waitFor({ state: 'detached' })
    await page.getByRole('textbox', { name: 'Sent as, column 60' }).waitFor()
    await page.getByRole('button', { name: 'Save and continue' }).click()
    const review = page.getByRole('region', { name: 'Mapping' })
    await review.getByText('60 columns are sent under their own names, unchanged').waitFor()
    assert.equal(await review.getByRole('row').count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})
