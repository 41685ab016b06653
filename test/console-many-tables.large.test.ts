import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, type Look, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, openAdvanced, openValues, postgresql, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

/** Many tables in one connection, in the console. */

const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 390, height: 844, theme: 'light' },
  { width: 390, height: 844, theme: 'dark' },
]

describe('many tables in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  async function inspect(page: Page, name: string) {
    for (const look of looks) {
      await setLook(page, look)
      assert.deepEqual(await accessibilityViolations(page), [], `${name} ${look.width} ${look.theme}`)
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.equal(overflow, 0, `${name} ${look.width}`)
    }
    await setLook(page, looks[0] as Look)
  }

  test('changed columns of tables are accepted for one table, and for all with the next transfer', async () => {
    const accountId = (await stage.addAccount('Drifting tables')).id
    await stage.addSides(accountId)
    await stage.target.query(
      `create schema shifting; create schema shifted;
       create table shifting.guests (id int primary key, name text); insert into shifting.guests values (1, 'a');
       create table shifting.orders (id int primary key, total int); insert into shifting.orders values (1, 5);
       create table shifting.calm (id int primary key); insert into shifting.calm values (1)`,
    )
    const { reply: connection } = await stage.client.createConnection({
      accountId,
      body: {
        name: 'Shifting tables',
        srcConnectorId: postgresql.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { dataSourceType: 'Many Tables', tables: 'shifting.*' },
        destConnectionConfig: {
          schema: 'shifted',
          table: '{table}',
          createTable: true,
          writeMode: 'Upsert',
          keyColumns: '{key}',
        },
      },
    })
    const of = { accountId, id: connection.id }
    await stage.client.updateConnectionStatus({ ...of, body: { action: 'activate' } })
    await stage.client.setDrift({ ...of, body: { drift: 'stop' } })
    assert.equal((await stage.run(accountId, connection.id)).status, 'succeeded')
    await stage.target.query(
      `alter table shifting.guests add column tier text; update shifting.guests set tier = 'gold';
       alter table shifting.orders rename column total to amount`,
    )
    const stopped = await stage.run(accountId, connection.id)
    assert.equal(stopped.error?.code, 'tables_failed')

    const page = await stage.open(`/accounts/${accountId}/connections/${connection.id}`)
    const banner = page.getByRole('alert').filter({ hasText: 'Columns of 2 tables changed' })
    await banner.waitFor()
    await banner.getByText('total is now amount').waitFor()
    await inspect(page, 'changed tables')
    const one = banner.getByRole('button', { name: 'Accept the changes of shifting.guests' })
    await one.focus()
    await page.keyboard.press('Enter')
    await page.getByText('The changes of shifting.guests were accepted').waitFor()
    const left = page.getByRole('alert').filter({ hasText: 'Columns of 1 table changed' })
    await left.getByRole('button', { name: 'Accept all and run' }).click()
    await until('all tables are moved', async () => {
      const { reply } = await stage.client.listTransfers({ ...of, query: { size: 1 } })
      return reply[0]?.status === 'succeeded' ? true : undefined
    })
    await left.waitFor({ state: 'detached' })
    const { rows } = await stage.target.query('select tier, amount from shifted.guests join shifted.orders using (id)')
    assert.deepEqual(rows, [{ tier: 'gold', amount: 5 }])
  })

  test('the tables of a connection are found, paused, moved and copied again', async () => {
    const accountId = (await stage.addAccount('Listed tables')).id
    await stage.addSides(accountId)
    await stage.target.query(
      `create schema counter; create schema counted;
       create table counter.guests (id int primary key, name text); insert into counter.guests values (1, 'a');
       create table counter."Odd, ""x"" %" (id int primary key); insert into counter."Odd, ""x"" %" values (1), (2);
       create table counter.broken (id int primary key, gone text); insert into counter.broken values (1, 'a');
       create table counted.broken (id int primary key)`,
    )
    const { reply: connection } = await stage.client.createConnection({
      accountId,
      body: {
        name: 'Counted tables',
        srcConnectorId: postgresql.id,
        destConnectorId: postgresql.id,
        srcConnectionConfig: { dataSourceType: 'Many Tables', tables: 'counter.*' },
        destConnectionConfig: {
          schema: 'counted',
          table: '{table}',
          createTable: true,
          writeMode: 'Upsert',
          keyColumns: '{key}',
        },
      },
    })
    const of = { accountId, id: connection.id }
    await stage.client.updateConnectionStatus({ ...of, body: { action: 'activate' } })
    const page = await stage.open(`/accounts/${accountId}/connections/${connection.id}?tab=tables`)
    await page.getByText('No tables yet').waitFor()
    await stage.run(accountId, connection.id)
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await row('counter.broken').getByText('Failing').last().waitFor()
    await row('counter.guests').getByText('to counted.guests').waitFor()
    await inspect(page, 'tables')

    await page.getByRole('searchbox', { name: 'Search tables' }).fill('" %')
    await row('counter.guests').waitFor({ state: 'detached' })
    const odd = 'counter.Odd, "x" %'
    const menu = page.getByRole('button', { name: `Actions of ${odd}` })
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Move now' }).waitFor()
    const pause = page.getByRole('menuitem', { name: 'Pause' })
    await until('the arrow keys lead to the action', async () => {
      if ((await pause.and(page.locator(':focus')).count()) > 0) return true
      await page.keyboard.press('ArrowDown')
      return undefined
    })
    await page.keyboard.press('Enter')
    await page.getByText(`${odd} is paused`).waitFor()
    await row(odd).getByText('Paused').last().waitFor()
    const listed = async () => (await stage.client.listConnectionTables({ ...of, query: {} })).reply
    assert.equal((await listed()).find(({ table }) => table === odd)?.status, 'paused')

    await page.getByRole('searchbox', { name: 'Search tables' }).fill('')
    await page.getByRole('button', { name: 'Actions of counter.guests' }).click()
    await inspect(page, 'the menu of a table')
    await page.getByRole('menuitem', { name: 'Copy again' }).click()
    await inspect(page, 'copy again')
    await page.getByRole('dialog').getByRole('button', { name: 'Copy again' }).click()
    await page.getByText('A transfer of counter.guests was started').waitFor()
    const copied = await until('it is copied again', async () => {
      const { reply } = await stage.client.listTransfers({ ...of, query: { size: 1 } })
      return reply[0]?.status === 'succeeded' ? reply[0] : undefined
    })
    assert.deepEqual([copied.tables, copied.records.read], [['counter.guests'], 1])
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByText(`Table paused: ${odd}`).waitFor()
    await page.getByText('Table reset: counter.guests').waitFor()
  })

  test('a new connection picks its tables from the source, and shows their names at the destination', async () => {
    const accountId = (await stage.addAccount('New tables')).id
    await stage.addSides(accountId)
    await stage.target.query(
      `create schema picking; create table picking.orders (id int primary key); create table picking."odd, name" (id int primary key)`,
    )
    const page = await stage.open(
      `/accounts/${accountId}/connections/new?source=${postgresql.id}&destination=${postgresql.id}&step=settings`,
    )
    await openAdvanced(page.getByRole('region', { name: /^Source/ }))
    await page.getByRole('combobox', { name: 'Data source type' }).click()
    await page.getByRole('option', { name: 'Many tables' }).click()
    const list = await openValues(page, 'Tables')
    await list.getByRole('combobox', { name: /^Search: / }).fill('picking')
    await list.getByText('2 found').waitFor()
    for (const at of [0, 1, 0, 0]) await list.getByRole('option').nth(at).click()
    assert.deepEqual(
      await list.getByRole('option').evaluateAll((all) => all.map((one) => one.getAttribute('aria-selected'))),
      ['true', 'true'],
    )
    await page.keyboard.press('Escape')
    const names = page.getByRole('region', { name: 'Names at the destination' })
    await names.getByText('public.odd, name_copy').waitFor()
    await names.getByText('public.orders_copy').waitFor()
    await inspect(page, 'many tables of a new connection')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    const connection = await until('it is saved', async () => {
      const { reply } = await stage.client.listConnections({ accountId })
      return reply[0] && (await stage.client.getConnection({ accountId, id: reply[0].id })).reply
    })
    const { dataSourceType, tables } = connection.srcConnectionConfig
    assert.deepEqual([dataSourceType, tables], ['Many Tables', 'picking.orders, picking."odd, name"'])
    const { table, createTable } = connection.destConnectionConfig
    assert.deepEqual([table, createTable], ['{table}_copy', true])
  })
})
