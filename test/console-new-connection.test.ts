import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityFaults, skip } from './harness/browser.ts'
import { type ConsoleStage, localFolder, postgresql, preparePeople, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { until } from './harness/until.ts'

const audiences = connectorBySlug('meta-custom-audiences')

describe('the wizard of new connections', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 30)
  })
  after(() => stage?.close())

  const wizard = (accountId: string, query = '') => `/accounts/${accountId}/connections/new${query}`
  const rowsOf = async (table: string): Promise<number> =>
    Number((await stage.target.query(`select count(*) as n from ${table}`)).rows[0].n)

  test('leads from the first sign-in to the first delivered row by clicking and typing', async () => {
    await stage.target.query('create table first (id integer primary key, person text, email text)')
    const page = await stage.open('/accounts')
    await page.getByRole('button', { name: 'Add a sub-account' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('First brand')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'First brand' }).click()
    await page.waitForURL('**/accounts/*')
    const accountId = new URL(page.url()).pathname.split('/')[2] ?? ''
    await page.goto(wizard(accountId))

    await page.getByLabel('Search sources').fill('folder')
    await page.getByRole('button', { name: /^Local folder/ }).click()
    await page.getByText('where the data of Local folder goes').waitFor()
    await page.getByRole('button', { name: /^PostgreSQL/ }).click()

    await page.getByRole('button', { name: 'Configure Local folder' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Folder' }).fill(stage.folder)
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Change the configuration of Local folder' }).waitFor()
    await page.getByRole('button', { name: 'Configure PostgreSQL' }).click()
    await fillSecrets(page, stage.targetSecrets)
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Change the configuration of PostgreSQL' }).waitFor()

    await page.getByLabel('Name', { exact: true }).fill('First pipe')
    await region(page, 'Source').getByRole('textbox', { name: 'Files' }).fill('people.csv')
    await region(page, 'Destination').getByRole('textbox', { name: 'Table' }).fill('first')
    await page.getByRole('button', { name: 'Create the connection' }).click()

    await page.getByText('The columns of the source: id, name, email').waitFor()
    await page.getByText('30 would be sent').waitFor()
    await page.getByText('Only those picked').click()
    await page.getByRole('textbox', { name: 'Sent as, column 2' }).fill('person')
    await page.getByRole('button', { name: 'Preview this mapping' }).click()
    await page.getByRole('columnheader', { name: 'person' }).waitFor()
    await page.getByRole('button', { name: 'Save and go on' }).click()

    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByRole('heading', { name: 'The connection is active' }).waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.waitForURL(/\/connections\/[^/?]+$/)
    await until('the rows are there', async () => (await rowsOf('first')) === 30)
    const { rows } = await stage.target.query('select person, email from first where id = 1')
    assert.deepEqual(rows, [{ person: 'Person 1', email: 'p1@example.com' }])
    assert.equal(await page.evaluate((id) => sessionStorage.getItem(`penstock.new-connection.${id}`), accountId), null)
  })
})

const region = (page: Page, end: 'Source' | 'Destination') => page.getByRole('region', { name: new RegExp(`^${end}: `) })

/** Fills the form of PostgreSQL's configuration in the drawer that is open. */
async function fillSecrets(page: Page, secrets: Readonly<Record<string, string | number>>): Promise<void> {
  const drawer = page.getByRole('dialog')
  const { fields } = { fields: postgresql.secrets }
  for (const [key, value] of Object.entries(secrets)) {
    const { label = '', type } = fields[key] ?? {}
    if (type === 'Select') {
      await drawer.getByRole('combobox', { name: label }).click()
      await page.getByRole('option', { name: String(value), exact: true }).click()
    } else if (type === 'Password') await drawer.locator('input[type=password]').fill(String(value))
    else await drawer.getByRole('textbox', { name: label }).fill(String(value))
  }
}
