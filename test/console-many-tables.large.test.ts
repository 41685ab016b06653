import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, type Look, setLook, skip } from './harness/browser.ts'
import { type ConsoleStage, postgresql, startConsole } from './harness/console.ts'
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
})
