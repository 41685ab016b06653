import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { awkward, csvOf } from './harness/awkward.ts'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, postgresql, startConsole } from './harness/console.ts'
import { personAt } from './harness/person.ts'
import { until } from './harness/until.ts'

/** Paths through the console, with limits of clicks and typed fields. `console-first-hour` tests the path to an audience. */

describe('the ways through the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  test('a file of sixty columns into a new table with types: at most 11 clicks and 4 typed fields', async () => {
    const { id: accountId } = await stage.addAccount('Files')
    const page = await stage.open(`/accounts/${accountId}/start`)
    const me = personAt(page)
    await me.choose(page.getByRole('button', { name: 'Choose a file' }), 'kunden.csv', csvOf(awkward))
    await me.click(page.getByRole('button', { name: /^PostgreSQL/ }))
    await me.click(page.getByRole('button', { name: 'Configure PostgreSQL' }))
    const form = page.getByRole('dialog')
    const { host, port, database, user, password } = stage.targetSecrets
    const account = `${encodeURIComponent(String(user))}:${encodeURIComponent(String(password))}`
    await me.paste(
      form.getByRole('textbox', { name: 'Host' }),
      `postgres://${account}@${host}:${port}/${database}?sslmode=disable`,
    )
    await page.getByText('Filled in from the URL').first().waitFor()
    assert.equal(await form.getByRole('textbox', { name: 'Host' }).inputValue(), host)
    assert(!(await form.innerText()).includes(String(password)), 'the password is not shown')
    await me.click(form.getByRole('button', { name: 'Save', exact: true }))
    await form.waitFor({ state: 'detached' })
    await me.click(page.getByRole('button', { name: 'Create the connection' }))
    const readings = page.getByRole('region', { name: 'Numbers, dates and yes/no' })
    await readings.getByText('Two forms: 23.07.1991 and 03/04/1988').waitFor()
    const readAs = (column: string) => readings.getByRole('combobox', { name: `Read ${column} as`, exact: true })
    const shown = (column: string) => readAs(column).locator('option:checked').textContent()
    assert.equal(await shown('Ø Warenkorb (EUR)'), 'Decimal comma → number')
    assert.equal(await shown('Erste Bestellung'), 'Day.month.year → date')
    const born = readings.getByRole('radiogroup', { name: /^Geburtsdatum: / })
    assert.equal(await born.getByRole('radio', { checked: true }).count(), 0)
    await me.click(born.getByRole('radio', { name: 'Create as date (day.month.year)', exact: true }))
    await me.click(page.getByRole('button', { name: 'Save and continue' }))
    await me.click(page.getByRole('button', { name: 'Activate and run' }))
    const types = await until('the table is there', async () => {
      const { rows } = await stage.target.query(
        `select column_name, data_type from information_schema.columns where table_name = 'kunden'`,
      )
      return rows.length > 0 ? new Map(rows.map((row) => [row.column_name, row.data_type])) : undefined
    })
    assert.equal(types.size, 60)
    const expected = {
      'Kundennr.': 'bigint',
      PLZ: 'text',
      'Anzahl Bestellungen': 'bigint',
      'order total €': 'text',
      'Ø Warenkorb (EUR)': 'numeric',
      'Newsletter?': 'boolean',
      Geburtsdatum: 'date',
      Bestelldatum: 'timestamp without time zone',
    }
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, types.get(name)])), expected)
    await until('the rows are there', async () => (await stage.target.query('select from kunden')).rowCount === 3)
    const { rows } = await stage.target.query(
      `select "Ø Warenkorb (EUR)" as cart, "Geburtsdatum"::text as born, "Bestelldatum"::text as at, "Newsletter?" as news
       from kunden order by "Kundennr." limit 1`,
    )
    assert.deepEqual(rows, [{ cart: '48.20', born: '1991-07-23', at: '2026-11-22 10:00:00', news: true }])
    me.assertAtMost({ clicks: 11, typed: 4 })
  })

  test('numbers with units and days in two forms: read as proposed, or stay text until somebody chooses', async () => {
    const { client, targetSecrets } = stage
    const { id: accountId } = await stage.addAccount('Forms')
    await client.addConnectors({ accountId, body: { connectorIds: [postgresql.id] } })
    await client.configureConnector({ accountId, id: postgresql.id, body: { secretConfig: targetSecrets } })
    const page = await stage.open(`/accounts/${accountId}/start`)
    const me = personAt(page)
    const columns = {
      Preis: ['€ 9,90', '€ 1.234,56', ''],
      Quote: ['12,5 %', '3,0 %', '0,1 %'],
      Tag: ['31.12.2026', '12/31/2026', '31.12.2025'],
      Menge: ['1.234', '2.500', '9.000'],
      Aktiv: ['WAHR', 'FALSCH', 'WAHR'],
    }
    await me.choose(page.getByRole('button', { name: 'Choose a file' }), 'forms.csv', csvOf(columns))
    await me.click(page.getByRole('button', { name: /^PostgreSQL/ }))
    await me.click(page.getByRole('button', { name: 'Create the connection' }))
    const readings = page.getByRole('region', { name: 'Numbers, dates and yes/no' })
    await readings.getByText('Two forms: 31.12.2026 and 12/31/2026').waitFor()
    await readings.getByText('1.234 can be read in two ways').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await me.select(readings.getByRole('combobox', { name: 'Read Quote as', exact: true }), {
      label: 'Text, unchanged',
    })
    const amount = readings.getByRole('radiogroup', { name: /^Menge: / })
    await me.click(amount.getByRole('radio', { name: 'Create as number (decimal comma)' }))
    await page.getByText('1 column stays text until you choose its type.').waitFor()
    await me.click(page.getByRole('button', { name: 'Save and continue' }))
    await page.getByText('Preis · decimal comma · €').waitFor()
    await me.click(page.getByRole('button', { name: 'Activate and run' }))
    const rows = await until('the rows are there', async () => {
      const { rows: found } = await stage.target.query(`select to_regclass('forms') as table`)
      if (found[0].table === null) return undefined
      const { rows } = await stage.target.query('select * from forms')
      return rows.length === 3 ? rows : undefined
    })
    assert.deepEqual(rows, [
      { Preis: '9.90', Quote: '12,5 %', Tag: '31.12.2026', Menge: '1234', Aktiv: true },
      { Preis: '1234.56', Quote: '3,0 %', Tag: '12/31/2026', Menge: '2500', Aktiv: false },
      { Preis: null, Quote: '0,1 %', Tag: '31.12.2025', Menge: '9000', Aktiv: true },
    ])
    me.assertAtMost({ clicks: 11, typed: 0 })
  })

  test('a column that is mostly dates: text until somebody chooses, then its other values are rejected', async () => {
    const { client, targetSecrets } = stage
    const { id: accountId } = await stage.addAccount('Mostly')
    await client.addConnectors({ accountId, body: { connectorIds: [postgresql.id] } })
    await client.configureConnector({ accountId, id: postgresql.id, body: { secretConfig: targetSecrets } })
    const page = await stage.open(`/accounts/${accountId}/start`)
    const me = personAt(page)
    const bad = ['n/a', '31.02.2026', 'soon', '2026-13-01', '2026-02-30', '-', 'x']
    const days = Array.from(
      { length: 50 },
      (_, n) => bad[n / 7 - 1] ?? `2026-01-${String((n % 28) + 1).padStart(2, '0')}`,
    )
    const numbers = days.map((_, n) => (n % 10 === 4 ? 'none' : `${n}`))
    const csv = csvOf({ Nr: days.map((_, n) => `${n + 1}`), Ordered: days, Kept: days, Amount: numbers })
    await me.choose(page.getByRole('button', { name: 'Choose a file' }), 'mostly.csv', csv)
    await me.click(page.getByRole('button', { name: /^PostgreSQL/ }))
    await me.click(page.getByRole('button', { name: 'Create the connection' }))
    const readings = page.getByRole('region', { name: 'Numbers, dates and yes/no' })
    await readings
      .getByText('Ordered: 43 of 50 values look like dates (2026-01-01). Others: n/a · 31.02.2026 · soon')
      .waitFor()
    await readings.getByText('Amount: 45 of 50 values look like whole numbers (0). Others: none').waitFor()
    await page.getByText('3 columns stay text until you choose their types.').waitFor()
    const created = page.getByRole('region', { name: 'Columns of the new table' })
    const row = (name: string) => created.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
    await row('Ordered').getByRole('cell', { name: 'text', exact: true }).first().waitFor()
    const typeOf = (column: string) =>
      created
        .getByRole('combobox', { name: `Type of ${column}` })
        .locator('option:checked')
        .textContent()
    assert.deepEqual(await Promise.all(['Nr', 'Ordered', 'Amount'].map(typeOf)), ['bigint', 'text', 'text'])
    assert.deepEqual(await accessibilityViolations(page), [])
    const choose = (column: string, choice: string) =>
      me.click(
        readings
          .getByRole('radiogroup', { name: new RegExp(`^${column}: `) })
          .getByRole('radio', { name: choice, exact: true }),
      )
    await choose('Ordered', 'Create as date: 7 of 50 values will be rejected')
    await choose('Kept', 'Keep as text')
    await choose('Amount', 'Create as whole number: 5 of 50 values will be rejected')
    await page.getByText('until you choose').waitFor({ state: 'detached' })
    assert.deepEqual(await Promise.all(['Nr', 'Ordered', 'Kept', 'Amount'].map(typeOf)), [
      'bigint',
      'date',
      'text',
      'bigint',
    ])
    await page.getByRole('button', { name: 'Preview this mapping' }).click()
    await page.getByText('11 would be rejected').waitFor()
    await me.click(page.getByRole('button', { name: 'Save and continue' }))
    await me.click(page.getByRole('button', { name: 'Activate and run' }))
    await until('the rows are there', async () => {
      const { rows: found } = await stage.target.query(`select to_regclass('mostly') as table`)
      if (found[0].table === null) return false
      return (await stage.target.query('select from mostly')).rowCount === 39
    })
    const { rows } = await stage.target.query(
      `select column_name, data_type from information_schema.columns where table_name = 'mostly' order by ordinal_position`,
    )
    assert.deepEqual(
      rows.map((one) => one.data_type),
      ['bigint', 'date', 'text', 'bigint'],
    )
    me.assertAtMost({ clicks: 9, typed: 0 })
  })

  test('a table into a table with a schedule, a rule and an alert: at most 20 clicks', async () => {
    await stage.target.query(`
      create table shop_customers (id integer primary key, name text, town text);
      insert into shop_customers select n, 'Person ' || n, 'Town ' || n from generate_series(1, 1200) as n;
      create table warehouse_customers (id integer primary key, name text, town text);
      analyze shop_customers`)
    const { id: accountId } = await stage.addAccount('Tables')
    const page = await stage.open(`/accounts/${accountId}/connections/new`)
    const me = personAt(page)
    const { host, port, database, user, password } = stage.targetSecrets
    const account = `${encodeURIComponent(String(user))}:${encodeURIComponent(String(password))}`
    const url = `postgres://${account}@${host}:${port}/${database}?sslmode=disable`
    const side = (name: string) => page.getByRole('region', { name: new RegExp(`^${name}: `) })
    const form = page.getByRole('dialog', { name: /^Configure / })
    const configure = async () => {
      await me.paste(form.getByRole('textbox', { name: 'Host' }), url)
      await page.getByText('Filled in from the URL').first().waitFor()
      await me.click(form.getByRole('button', { name: 'Save', exact: true }))
      await form.waitFor({ state: 'detached' })
    }
    await me.click(page.getByRole('button', { name: /^PostgreSQL/ }))
    await me.click(page.getByRole('button', { name: /^PostgreSQL/ }))
    await me.click(side('Source').getByRole('button', { name: 'Configure PostgreSQL' }))
    await configure()
    await me.click(side('Destination').getByRole('button', { name: 'Add another configuration' }))
    const name = page.getByRole('dialog', { name: /^Add a configuration/ }).getByRole('textbox', { name: 'Name' })
    await me.type(name, 'Warehouse')
    await name.press('Enter')
    await configure()
    for (const [at, table] of [
      ['Source', 'shop_customers'],
      ['Destination', 'warehouse_customers'],
    ] as const) {
      await me.click(side(at).getByRole('combobox', { name: 'Table', exact: true }))
      // The database of the test has the tables of the service, too, which fill the first page of the list.
      await me.type(page.getByRole('combobox', { name: 'Search: Table' }), table)
      const option = page.getByRole('option', { name: new RegExp(`^${table}`) })
      await option.waitFor()
      if (at === 'Source') assert.match(await option.innerText(), /about 1,200 rows/)
      await me.click(option)
    }
    await page.getByText('Every transfer adds all rows (about 1,200) again.').waitFor()
    await me.click(side('Destination').getByRole('radio', { name: 'Update by key' }))
    await page.getByText('Each transfer reads all rows (about 1,200) and updates').waitFor()
    await me.click(page.getByRole('button', { name: 'Create the connection' }))
    await me.click(page.getByRole('button', { name: /^(Save and continue|Continue to review)$/ }))
    await me.click(page.getByRole('button', { name: 'Set a schedule' }))
    await me.click(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }))
    await me.click(page.getByRole('button', { name: 'Edit the rules' }))
    await me.click(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }))
    await me.click(page.getByRole('button', { name: 'Add an alert' }))
    await me.click(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }))
    await me.click(page.getByRole('button', { name: 'Activate and run' }))
    await until('the rows are there', async () => {
      const { rowCount } = await stage.target.query('select from warehouse_customers')
      return rowCount === 1200
    })
    const { reply } = await stage.client.listConnections({ accountId })
    const { id = '', name: made } = reply[0] ?? {}
    assert.equal(made, 'PostgreSQL → Warehouse')
    assert.equal((await stage.client.getSchedule({ accountId, id })).reply.enabled, true)
    assert.equal((await stage.client.getConnectionRules({ accountId, id })).reply.rules.length, 1)
    const { reply: alerts } = await stage.client.listAlertRules({ accountId })
    assert.deepEqual(
      alerts.map(({ connectionIds }) => connectionIds),
      [[id]],
    )
    me.assertAtMost({ clicks: 20, typed: 5 })
  })
})
