import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { awkward, csvOf } from './harness/awkward.ts'
import { skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

/** Ways through the console, in at most so many clicks and typed fields. `console-first-hour` has the way to an audience. */

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
    await me.select(page.getByRole('combobox', { name: 'Type of Anzahl Bestellungen', exact: true }), 'integer')
    await me.click(page.getByRole('button', { name: 'Save and continue' }))
    await me.click(page.getByRole('button', { name: 'Activate and run' }))
    const types = await until('the table is there', async () => {
      const { rows } = await stage.target.query(
        `select column_name, data_type from information_schema.columns where table_name = 'kunden'`,
      )
      return rows.length > 0 ? new Map(rows.map((row) => [row.column_name, row.data_type])) : undefined
    })
    assert.equal(types.size, 60)
    assert.deepEqual(
      [types.get('Kundennr.'), types.get('PLZ'), types.get('Anzahl Bestellungen')],
      ['bigint', 'text', 'integer'],
    )
    await until('the rows are there', async () => (await stage.target.query('select from kunden')).rowCount === 3)
    me.assertAtMost({ clicks: 11, typed: 4 })
  })
})

/** A person in front of a page, whose clicks and typed fields are counted. */
function personAt(page: Page) {
  let [clicks, typed] = [0, 0]
  return {
    click: async (target: Locator) => {
      clicks++
      await target.click()
    },
    type: async (target: Locator, text: string) => {
      typed++
      await target.fill(text)
    },
    /** Opens a list of the browser, and picks a value. */
    select: async (target: Locator, value: string) => {
      clicks += 2
      await target.selectOption(value)
    },
    paste: async (target: Locator, text: string) => {
      typed++
      await target.focus()
      await page.evaluate(`{
        const clipboardData = new DataTransfer()
        clipboardData.setData('text', ${JSON.stringify(text)})
        document.activeElement.dispatchEvent(
          new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
        )
      }`)
    },
    /** A click that opens the dialog of the system, and one in it. */
    choose: async (button: Locator, name: string, text: string) => {
      clicks += 2
      const chooser = page.waitForEvent('filechooser')
      await button.click()
      await (await chooser).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
    },
    assertAtMost: (most: { clicks: number; typed: number }) =>
      assert(clicks <= most.clicks && typed <= most.typed, `${clicks} clicks, ${typed} typed fields`),
  }
}
